import { dirname } from 'node:path';
import { Fault, type Scope } from '../model/index.ts';
import { type Files, type Log, O, type Stat } from '../ports/index.ts';

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
    if (stat.uid !== uid) throw createRefusal(path, `belongs to user ${stat.uid}, but Hivebar runs as user ${uid}`, is);
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

/** Larger than any file that is read whole here. */
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * The whole content of a file that a person or another program made; null when nothing is there. Links are followed, since its
 * owner decides where the file is. A pipe, a socket or a device is refused before it is read: a pipe without a writer would never
 * end.
 *
 * @throws Fault `unreadable`, also for more than `most` bytes
 */
export function readRegular(files: Files, path: string, most: number = MOST_BYTES): Uint8Array | null {
  try {
    const fd = files.open(path, O.RDONLY | O.NONBLOCK, 0);
    try {
      const { kind, size } = files.fstat(fd);
      if (kind !== 'file') {
        const kindWord = kind === 'directory' ? 'directory' : 'pipe, socket or device';
        const why = `is not a regular file but a ${kindWord}: move it away, and put a file in its place`;
        throw createRefusal(path, why, 'unreadable');
      }
      if (size > most) throw createRefusal(path, `has ${size} bytes; the limit is ${most}`, 'unreadable');
      return readBytes(files, fd, most, path);
    } finally {
      files.close(fd);
    }
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return null;
    throw toIoFault(error, path, 'unreadable');
  }
}

/** The reported size is not trusted: files of the system report 0, and a file may grow while it is read. */
function readBytes(files: Files, fd: number, most: number, path: string): Uint8Array {
  const chunks: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let at = 0; ; ) {
    const got = files.read(fd, chunk, at);
    if (got === 0) return Buffer.concat(chunks);
    at += got;
    if (at > most) throw createRefusal(path, `has more bytes than the limit of ${most}`, 'unreadable');
    chunks.push(Buffer.from(chunk.subarray(0, got)));
  }
}

/** The content of such a file as UTF-8 text. Invalid bytes become U+FFFD. @throws Fault `unreadable` */
export function readText(files: Files, path: string, most?: number): string | null {
  const bytes = readRegular(files, path, most);
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Where the first byte is that is not valid UTF-8; null when all bytes are valid. */
export function findBadUtf8(
  bytes: Uint8Array,
): { readonly line: number; readonly column: number; readonly byte: number } | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const again = Buffer.from(text, 'utf8');
  const at = again.findIndex((byte, index) => byte !== bytes[index]);
  const end = at === -1 ? again.length : at;
  if (at === -1 && again.length === bytes.length) return null;
  const before = again.subarray(0, end).toString('utf8').split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, byte: bytes[end] ?? 0 };
}

/**
 * The content of a small private file, under the checks of `openForRead`; null when nothing is there. A file longer than `most`
 * bytes returns its first `most + 1` bytes, by which the caller notices that.
 *
 * @throws Fault `unreadable`
 */
export function readPrivate(disk: Disk, path: string, most: number): Uint8Array | null {
  const opened = openForRead(disk, path);
  if (opened === null) return null;
  try {
    const bytes = new Uint8Array(Math.min(opened.stat.size, most + 1));
    let done = 0;
    while (done < bytes.length) {
      const got = disk.files.read(opened.fd, bytes.subarray(done), done);
      if (got === 0) break; // the file was truncated during the read; the caller judges what remains
      done += got;
    }
    return bytes.subarray(0, done);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    disk.files.close(opened.fd);
  }
}

/** What the file operations of this folder and of the sinks need from the machine. */
export interface Disk {
  readonly files: Files;
  readonly log: Log;
  /** The user files must belong to; null where the platform has no user ids and no modes (Windows). */
  readonly uid: number | null;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'is missing',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'is a symlink, which is never followed',
  EISDIR: 'is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENXIO: 'is a pipe or device, not a file',
  ENAMETOOLONG: 'the name is too long for the disk',
  EMFILE: 'this process has too many open files',
  EIO: 'the disk reports an input/output error',
};

/** The `code` of an error of node:fs; '' for anything else. */
export function getErrno(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * Turns a failed file operation into a Fault that names the path and the reason. A full or read-only disk is one cause for all
 * files in that directory; any other failure concerns the one file.
 */
export function toIoFault(error: unknown, path: string, is: 'unreadable' | 'unwritable'): Fault {
  if (error instanceof Fault) return error;
  const code = getErrno(error);
  const why = WORDS[code] ?? (error instanceof Error ? error.message : String(error));
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const scope: Scope = { is: 'machine', key: full || code === 'EROFS' ? `disk:${dirname(path)}` : `file:${path}` };
  return new Fault(full ? 'no-space' : is, `${path}: ${why}`, scope, { cause: error });
}

/** A Fault for a path that is refused because of what it is, not because of a system error. */
export function createRefusal(path: string, why: string, is: 'unreadable' | 'unwritable'): Fault {
  return new Fault(is, `${path}: ${why}`, { is: 'machine', key: `file:${path}` });
}
