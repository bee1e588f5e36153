import { createHash } from 'node:crypto';
import { chmodSync, closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Fault, parseJson } from '../core/model/index.ts';
import { type Log, realRandom } from '../core/ports/index.ts';
import { createRealDisk, type Disk, ensurePrivateDir, findCacheHome, writeAtomically } from '../core/state/index.ts';

const TERMINAL_NOTIFIER = 'node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents';

/**
 * Programs of other projects that Hivebar runs, by name. Each has the files that it needs, as they are in node_modules; the first
 * file is the program.
 */
export const HELPER_PROGRAMS = {
  tray_linux_release: ['systray2/traybin/tray_linux_release'],
  tray_darwin_release: ['systray2/traybin/tray_darwin_release'],
  'tray_windows_release.exe': ['systray2/traybin/tray_windows_release.exe'],
  'terminal-notifier': [
    `${TERMINAL_NOTIFIER}/MacOS/terminal-notifier`,
    `${TERMINAL_NOTIFIER}/Info.plist`,
    `${TERMINAL_NOTIFIER}/PkgInfo`,
    `${TERMINAL_NOTIFIER}/Resources/Terminal.icns`,
    `${TERMINAL_NOTIFIER}/Resources/en.lproj/Credits.rtf`,
    `${TERMINAL_NOTIFIER}/Resources/en.lproj/InfoPlist.strings`,
    `${TERMINAL_NOTIFIER}/Resources/en.lproj/MainMenu.nib`,
  ],
  'snoretoast-x64.exe': ['node-notifier/vendor/snoreToast/snoretoast-x64.exe'],
  'snoretoast-x86.exe': ['node-notifier/vendor/snoreToast/snoretoast-x86.exe'], // for Windows on ARM
} as const satisfies Readonly<Record<string, readonly [string, ...string[]]>>;

export type HelperProgram = keyof typeof HELPER_PROGRAMS;

/** The file beside the compressed programs that has their digests. */
export const DIGESTS = 'sha256.json';
export const COMPRESSED = '.br';

// In the package the compressed programs are in dist/helpers/. In a checkout they are in node_modules, and this file is in app/.
const PACKED = import.meta.filename.endsWith('.ts') ? null : join(import.meta.dirname, 'helpers');

/** Returns the path of a program as it was installed: in the package that of the compressed file. It may not exist. */
export function findHelperProgram(name: HelperProgram): string {
  const [file] = HELPER_PROGRAMS[name];
  return PACKED === null ? findInCheckout(file) : join(PACKED, `${file}${COMPRESSED}`);
}

/**
 * Returns the path of a program that can be run. In the package this unpacks it on first use, into the user's cache directory.
 * @throws Fault `helper`, `unwritable` or `no-space`, naming the path
 */
export function prepareHelperProgram(name: HelperProgram, log: Log): string {
  const files = HELPER_PROGRAMS[name];
  if (PACKED === null) return findInCheckout(files[0]);
  return unpackHelperProgram(createRealDisk(log), PACKED, join(findCacheHome(), 'hivebar'), files);
}

function findInCheckout(file: string): string {
  const [name = '', ...rest] = file.split('/');
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), ...rest);
  } catch {
    return file; // not installed; whoever looks for the file reports it as missing
  }
}

/**
 * Unpacks the files of one program from `packed` into `cache`, a folder that only this user can access. Files that are there and
 * have the digest of the build are kept. All others are replaced, each at once, so a kill or another process leaves no half file.
 * Returns the path of the first file.
 *
 * @throws Fault `helper`, `unwritable` or `no-space`, naming the path
 */
export function unpackHelperProgram(disk: Disk, packed: string, cache: string, files: readonly string[]): string {
  const digests = readDigests(join(packed, DIGESTS));
  const version = hash(files.map((file) => digests[file] ?? '').join(''));
  const folder = join(cache, 'helpers', version.slice(0, 16));
  for (const directory of [cache, dirname(folder), folder]) ensurePrivateDir(disk, directory);
  const [program = ''] = files.map((file) => {
    const path = join(folder, ...file.split('/'));
    const digest = digests[file] ?? '';
    if (!isUnpacked(path, digest)) unpack(disk, join(packed, `${file}${COMPRESSED}`), path, digest);
    return path;
  });
  return program;
}

const PRIVATE_PROGRAM = 0o700;

/** Whether the file is ours, can be run, and has the content that the build packed. A symlink is not followed. */
function isUnpacked(path: string, digest: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch {
    return false; // absent, a symlink or unreadable: it is replaced, and a failure of that is reported
  }
  try {
    const stat = fstatSync(fd);
    const isOurs = process.geteuid === undefined || (stat.uid === process.geteuid() && isPrivate(stat.mode));
    return stat.isFile() && isOurs && hash(readFileSync(fd)) === digest;
  } finally {
    closeSync(fd);
  }
}

const isPrivate = (mode: number): boolean => (mode & 0o777) === PRIVATE_PROGRAM;

function unpack(disk: Disk, from: string, path: string, digest: string): void {
  const bytes = readInstalled(from, (compressed) => brotliDecompressSync(compressed));
  if (hash(bytes) !== digest) throw createDamage(from, 'its content is not what was built');
  writeAtomically(disk, realRandom, path, bytes);
  chmodSync(path, PRIVATE_PROGRAM);
}

function readDigests(path: string): Readonly<Record<string, string>> {
  return readInstalled(path, (bytes) => parseJson(bytes.toString('utf8')) as Readonly<Record<string, string>>);
}

/** Reads a file of the package. @throws Fault `helper` */
function readInstalled<T>(path: string, parse: (bytes: Buffer) => T): T {
  if (!existsSync(path)) throw createDamage(path, 'it is missing');
  try {
    return parse(readFileSync(path));
  } catch (error) {
    throw createDamage(path, error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function createDamage(path: string, why: string, options?: ErrorOptions): Fault {
  return new Fault('helper', `${path}: ${why}`, { is: 'machine', key: 'helper' }, options);
}

function hash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
