import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { type Random, realFiles } from '../../core/ports/index.ts';
import { createRefusal, findBadUtf8, readRegular, readText, toIoFault } from '../../core/state/index.ts';

/** A settings file of a harness, in the state in which it was read. */
export interface HarnessSettingsFile {
  /** The real path, after the user's own link was followed. */
  readonly path: string;
  /** Null when there is no file. */
  readonly text: string | null;
  readonly mode: number;
}

/** The ending of the backup beside the settings: the settings before our hooks were added. */
export const BACKUP = '.before-hivebar';

const NEW_FILE = 0o600;
const NEW_DIRECTORY = 0o700;
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Reads a settings file. A link is followed only where the user may have made it (`mayLink`), and never in a project, whose files
 * may have been downloaded. The result must be a regular file of this user.
 *
 * @param folder that of the harness, which is no link either
 * @throws Fault `unreadable`
 */
export function readSettings(path: string, mayLink: boolean, folder: string = dirname(path)): HarnessSettingsFile {
  try {
    const real = resolveRealPath(path, mayLink, folder);
    const bytes = readRegular(realFiles, real, MOST_BYTES);
    if (bytes === null) return { path: real, text: null, mode: NEW_FILE };
    const stat = fs.statSync(real);
    const uid = process.geteuid?.();
    if (uid !== undefined && stat.uid !== uid)
      throw createRefusal(real, `belongs to user ${stat.uid}, not to this user`, 'unreadable');
    if (findBadUtf8(bytes) !== null) throw createRefusal(real, 'is not UTF-8', 'unreadable');
    return { path: real, text: Buffer.from(bytes).toString('utf8'), mode: stat.mode & 0o777 };
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  }
}

/**
 * Replaces the file that was read with `text`, atomically and with the same mode. With `backup` the old content is saved beside
 * it first. Returns false when another program changed the file in the meantime; its content is left.
 *
 * @throws Fault `unwritable` or `no-space`
 */
export function replaceSettings(was: HarnessSettingsFile, text: string, backup: boolean, random: Random): boolean {
  try {
    realFiles.mkdirAll(dirname(was.path), NEW_DIRECTORY);
    if (backup && was.text !== null) replace(was.path + BACKUP, was.text, was.mode, random, () => true);
    if (backup && was.text === null) fs.rmSync(was.path + BACKUP, { force: true }); // from an earlier install
    return replace(was.path, text, was.mode, random, () => readFileText(was.path) === was.text);
  } catch (error) {
    throw toIoFault(error, was.path, 'unwritable');
  }
}

/**
 * Checks that `replaceSettings` can work, and leaves nothing behind.
 * @throws Fault `hook-settings` which names the file
 */
export function checkReplaceable({ path }: HarnessSettingsFile, random: Random): void {
  const folder = dirname(path);
  const created = listMissingFolders(folder);
  const temp = join(folder, `.${basename(path)}.${random.hex(6)}.tmp`);
  try {
    realFiles.mkdirAll(folder, NEW_DIRECTORY);
    fs.closeSync(fs.openSync(temp, 'wx', NEW_FILE));
    fs.unlinkSync(temp);
    removeEmptyFolders(created);
  } catch (error) {
    const { message } = toIoFault(error, folder, 'unwritable');
    const why = `nothing was installed: ${path} cannot be written: ${message}`;
    throw new Fault('hook-settings', why, { is: 'machine', key: 'hook' }, { cause: error });
  }
}

/** Deepest first. */
function listMissingFolders(folder: string): readonly string[] {
  return fs.existsSync(folder) || dirname(folder) === folder ? [] : [folder, ...listMissingFolders(dirname(folder))];
}

/** Removes these folders one after the other, as long as nothing is in them. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      fs.rmdirSync(folder);
    } catch {
      return; // something is in it, which belongs to somebody
    }
  }
}

/** Removes the file. Returns false when it was changed in the meantime, and keeps it. @throws Fault `unwritable` */
export function removeSettings(was: HarnessSettingsFile): boolean {
  try {
    if (readFileText(was.path) !== was.text) return false;
    fs.rmSync(was.path, { force: true });
    return true;
  } catch (error) {
    throw toIoFault(error, was.path, 'unwritable');
  }
}

/** Returns the settings from before our hooks, or null when there were none or they cannot be read. */
export function readBackup({ path }: HarnessSettingsFile): string | null {
  try {
    return readFileText(path + BACKUP);
  } catch {
    return null; // treated as missing: only the settings themselves count
  }
}

/** @throws Fault `unwritable` */
export function removeBackup({ path }: HarnessSettingsFile): void {
  removeProgram(path + BACKUP);
}

/**
 * Writes one of our programs to the path where it is run from (mode 0700, in our folder). @throws Fault `unwritable` or
 * `no-space`
 */
export function putProgram(path: string, text: string, random: Random): void {
  try {
    realFiles.mkdirAll(dirname(path), NEW_DIRECTORY);
    if (readFileText(path) === text && (fs.statSync(path).mode & 0o777) === 0o700) return;
    replace(path, text, 0o700, random, () => true);
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/** Removes a file of ours. Returns whether it was there. @throws Fault `unwritable` */
export function removeProgram(path: string): boolean {
  try {
    const isThere = fs.existsSync(path);
    fs.rmSync(path, { force: true });
    return isThere;
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

function replace(path: string, text: string, mode: number, random: Random, mayStill: () => boolean): boolean {
  const temp = join(dirname(path), `.${basename(path)}.${random.hex(6)}.tmp`);
  try {
    const fd = fs.openSync(temp, 'wx', mode);
    try {
      fs.fchmodSync(fd, mode); // regardless of the umask
      fs.writeFileSync(fd, text);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    if (!mayStill()) return false;
    realFiles.rename(temp, path);
    return true;
  } finally {
    fs.rmSync(temp, { force: true });
  }
}

/** Returns null when there is no file. @throws Fault `unreadable` */
export function readSettingsText(path: string): string | null {
  try {
    return readFileText(path);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  }
}

/** Follows links. A link with no target is not a file. */
export function isFile(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Follows links. Windows has no such right. */
export function isProgram(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return isFile(path);
  } catch {
    return false; // it may not be run, or is not there
  }
}

export function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const readFileText = (path: string): string | null => readText(realFiles, path, MOST_BYTES);

/** @throws Fault when there is a link that must not be followed or that has no target */
function resolveRealPath(path: string, mayLink: boolean, folder: string): string {
  for (const candidate of new Set([path, dirname(path), folder])) {
    const stat = fs.lstatSync(candidate, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink() !== true) continue;
    if (!mayLink)
      throw createRefusal(candidate, 'is a symbolic link, which is not followed in a project', 'unreadable');
    if (!fs.existsSync(candidate))
      throw createRefusal(candidate, 'is a broken symbolic link, which leads nowhere', 'unreadable');
  }
  if (fs.existsSync(path)) return fs.realpathSync(path);
  return fs.existsSync(dirname(path)) ? join(fs.realpathSync(dirname(path)), basename(path)) : path;
}

/** @throws Fault `unwritable` for settings that other programs keep changing while we write */
export function throwAlwaysChanging(path: string): never {
  throw new Fault('unwritable', `${path} keeps being changed by another program`, { is: 'machine', key: 'hook' });
}
