import { dirname } from 'node:path';
import { O, type Stat } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { createRefusal, getErrno, toIoFault } from './io-fault.ts';

/** The mode of every file Hivebar writes; message text is in most of them. */
export const PRIVATE_FILE = 0o600;
/** The mode of every directory Hivebar creates. */
export const PRIVATE_DIRECTORY = 0o700;

export interface OpenedFile {
  readonly fd: number;
  /** The file's state after its mode was corrected. */
  readonly stat: Stat;
  /** The name is new in its directory, which needs an fsync to survive a power cut. */
  readonly created: boolean;
}

// The kernel refuses a symlink as the last name, and a pipe without a reader cannot block the open.
const CAREFUL = O.NOFOLLOW | O.NONBLOCK;
const ATTEMPTS = 3;

/**
 * Opens a private file for appending and reading, and creates it (0600) and its missing directories (0700 each). An existing file
 * must be a regular file of ours, checked on the open descriptor. A looser mode is tightened, with a log line (Kijito contract d,
 * traps 35 and 51-53).
 *
 * @throws Fault `unwritable` or `no-space`, naming path and reason; no descriptor is left open.
 */
export function openForAppend(disk: Disk, path: string): OpenedFile {
  try {
    const { fd, created } = openOrCreate(disk, path);
    return { fd, stat: checkOpened(disk, path, fd, 'unwritable', created), created };
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/**
 * Opens a private file for reading, under the checks of `openForAppend`; null when nothing is there.
 *
 * @throws Fault `unreadable`
 */
export function openForRead(disk: Disk, path: string): Omit<OpenedFile, 'created'> | null {
  try {
    const fd = disk.files.open(path, O.RDONLY | CAREFUL, 0);
    return { fd, stat: checkOpened(disk, path, fd, 'unreadable', false) };
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return null;
    throw toIoFault(error, path, 'unreadable');
  }
}

/**
 * Opens an existing private file for reading, appending and truncating, under the same checks; null when nothing is there.
 *
 * @throws Fault `unwritable`
 */
export function openToChange(disk: Disk, path: string): OpenedFile | null {
  try {
    const fd = disk.files.open(path, O.RDWR | O.APPEND | CAREFUL, 0);
    return { fd, stat: checkOpened(disk, path, fd, 'unwritable', false), created: false };
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return null;
    throw toIoFault(error, path, 'unwritable');
  }
}

/** Runs `create`. When directories are missing, it creates them and runs `create` once more. */
export function retryWithDirectories<T>(disk: Disk, path: string, create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error;
    disk.files.mkdirAll(dirname(path), PRIVATE_DIRECTORY);
    return create();
  }
}

function openOrCreate(disk: Disk, path: string): { fd: number; created: boolean } {
  const flags = O.RDWR | O.APPEND | CAREFUL;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { fd: disk.files.open(path, flags, PRIVATE_FILE), created: false };
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw error;
    }
    try {
      const create = (): number => disk.files.open(path, flags | O.CREAT | O.EXCL, PRIVATE_FILE);
      return { fd: retryWithDirectories(disk, path, create), created: true };
    } catch (error) {
      // Another process created it between the two calls: check what it is.
      if (getErrno(error) !== 'EEXIST' || attempt === ATTEMPTS) throw error;
    }
  }
}

function checkOpened(disk: Disk, path: string, fd: number, is: 'unreadable' | 'unwritable', created: boolean): Stat {
  const { files, uid, log } = disk;
  try {
    const stat = files.fstat(fd);
    if (stat.kind !== 'file') throw createRefusal(path, `is not a regular file but a ${formatKind(stat)}`, is);
    if (uid === null) return stat;
    if (stat.uid !== uid) throw createRefusal(path, `belongs to user ${stat.uid}, not to us (user ${uid})`, is);
    if (stat.mode === PRIVATE_FILE) return stat;
    files.fchmod(fd, PRIVATE_FILE);
    if (!created)
      log.warn(`${path} had mode ${formatOctal(stat.mode)}; it is ${formatOctal(PRIVATE_FILE)} now`, { path });
    return { ...stat, mode: PRIVATE_FILE };
  } catch (error) {
    files.close(fd);
    throw error;
  }
}

function formatKind(stat: Stat): string {
  return stat.kind === 'other' ? 'pipe, socket or device' : stat.kind;
}

export function formatOctal(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}
