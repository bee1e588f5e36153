import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, lstatSync, type Stats, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findProgram, resolveProgram } from '../../../core/ports/index.ts';
import { getMaxSocketPathBytes, resolveOwnerSocketPath } from '../../owner-socket.ts';
import type { NotifierProbe, TrayHelperProbe } from './desktop-judges.ts';
import type { DoctorContext } from './doctor-context.ts';
import type { DirectoryProbe, FileProbe, LockProbe, NodeProbe, SocketProbe } from './machine-judges.ts';

export function probeDirectory(path: string, me: number | null): DirectoryProbe {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      const parent = findExistingParent(path);
      return { is: 'absent', path, parent, canMake: mayWrite(parent) };
    }
    if (!stat.isDirectory()) return { is: 'other', path, kind: getKind(stat) };
    const { bavail, bsize } = statfsSync(path);
    return { is: 'directory', path, ...getOwner(stat, me), isWritable: mayWrite(path), freeBytes: bavail * bsize };
  } catch (error) {
    return { is: 'failed', path, why: error instanceof Error ? error.message : String(error) };
  }
}

export function probeFile(path: string, me: number | null): FileProbe {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, uid: null, me };
  return { path, is: stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'symlink' : 'other', ...getOwner(stat, me) };
}

export async function probeSocket({ os, dirs, uid, tray }: DoctorContext): Promise<SocketProbe> {
  const path = resolveOwnerSocketPath(os, dirs.run, uid);
  const most = getMaxSocketPathBytes(os);
  const answer = await tray();
  if (os === 'win32') return { path, is: 'pipe', mode: null, most, answer };
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { path, is: 'absent', mode: null, most, answer };
  return { path, is: stat.isSocket() ? 'socket' : 'other', mode: getOwner(stat, uid).mode, most, answer };
}

export const getStatePath = ({ dirs }: DoctorContext, ...names: string[]): string => join(dirs.state, ...names);

function getOwner(stat: Stats, me: number | null): { mode: number | null; uid: number | null; me: number | null } {
  return me === null ? { mode: null, uid: null, me } : { mode: stat.mode & 0o777, uid: stat.uid, me };
}

function getKind(stat: Stats): 'file' | 'symlink' | 'other' {
  return stat.isSymbolicLink() ? 'symlink' : stat.isFile() ? 'file' : 'other';
}

function findExistingParent(path: string): string {
  let parent = dirname(path);
  while (lstatSync(parent, { throwIfNoEntry: false }) === undefined && parent !== dirname(parent))
    parent = dirname(parent);
  return parent;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // the answer is no
  }
}

const require = createRequire(import.meta.url);

export function probeNode(): NodeProbe {
  return { version: process.versions.node, path: process.execPath };
}

export function probeLock({ os, env }: DoctorContext): LockProbe {
  return { os, koffi: probeKoffi(), flock: os === 'linux' ? findProgram('flock', env, os) : null };
}

function probeKoffi(): LockProbe['koffi'] {
  try {
    const { load, version } = require('koffi') as typeof import('koffi') & { readonly version: string };
    if (process.platform !== 'win32') load(null).func('int flock(int fd, int operation)');
    return { is: 'loads', version };
  } catch (error) {
    return { is: 'failed', why: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}

const HELPERS: Readonly<Record<string, string>> = {
  linux: 'tray_linux_release',
  darwin: 'tray_darwin_release',
  win32: 'tray_windows_release.exe',
};

export async function probeTrayHelper(context: DoctorContext, signal: AbortSignal): Promise<TrayHelperProbe> {
  const { os, arch, settings, env } = context;
  const isWay = settings.tray === 'systray2' || (settings.tray === 'auto' && (os === 'darwin' || os === 'win32'));
  const path = findHelperPath(HELPERS[os] ?? `tray_${os}`);
  const isThere = existsSync(path);
  const ldd = isWay && isThere && os === 'linux' ? await runProgram('ldd', [path], env, signal) : '';
  return {
    isWay,
    os,
    arch,
    path,
    isThere,
    hasRosetta: isWay && os === 'darwin' && arch === 'arm64' ? await canRunIntel(env, signal) : null,
    lacks: [...(ldd ?? '').matchAll(/^\s*(\S+) => not found/gm)].map(([, name = '']) => name),
  };
}

function findHelperPath(name: string): string {
  try {
    return join(dirname(require.resolve('systray2/package.json')), 'traybin', name);
  } catch {
    return join('systray2', 'traybin', name); // not installed; the check reports it as missing
  }
}

/** The PATH of a login session lacks the folders of the package managers. */
const EXTRA_PATHS = ['/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin'];

export async function probeNotifier(context: DoctorContext, signal: AbortSignal): Promise<NotifierProbe> {
  const { os, arch, env, settings } = context;
  const base = { isWanted: settings.notifications, os, arch };
  if (os !== 'darwin' || !settings.notifications) return { ...base, own: null, hasRosetta: false, hasOsascript: false };
  const path = findProgram('terminal-notifier', env, os, EXTRA_PATHS);
  const versionText = path === null ? null : await runProgram(path, ['-version'], env, signal);
  return {
    ...base,
    own: path === null ? null : { path, version: /\b\d+\.\d+[.\d]*\d/.exec(versionText ?? '')?.[0] ?? null },
    hasRosetta: arch === 'arm64' && (await canRunIntel(env, signal)),
    hasOsascript: existsSync('/usr/bin/osascript'),
  };
}

async function canRunIntel(env: DoctorContext['env'], signal: AbortSignal): Promise<boolean> {
  return (await runProgram('/usr/bin/arch', ['-x86_64', '/usr/bin/true'], env, signal)) !== null;
}

const PROGRAM_MS = 2000;

/** Returns the output of a program, found by name on PATH or by path; null when it fails. */
function runProgram(
  name: string,
  args: string[],
  env: DoctorContext['env'],
  signal: AbortSignal,
): Promise<string | null> {
  const file = resolveProgram(name, env, process.platform);
  if (file === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    execFile(file, args, { env: { ...env }, timeout: PROGRAM_MS, signal }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
}
