import { O, type Stat } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';
import { createRefusal, getErrno, toIoFault } from '../../../state/index.ts';

/** The largest JSON file of a store that is read. */
export const MOST_JSON = 256 * 1024;
/** The largest message body that is read whole. */
export const MOST_BODY = 16 * 1024 * 1024;

/** The result of reading a file of the store. `refused` concerns this file alone: other files are still read. */
export type SmallFile =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'absent' }
  | { readonly is: 'refused'; readonly why: string };

/** The users whose files are trusted; null where there are no user ids. */
export type Owners = ReadonlySet<number> | null;

const ROOT = 0;
const CAREFUL = O.RDONLY | O.NOFOLLOW | O.NONBLOCK;
/** Errors that concern one file. Any other error (too many open files, a disk that fails) concerns the machine and is thrown. */
const FILE_ERRNOS = new Set([
  'ELOOP',
  'EMLINK',
  'EACCES',
  'EPERM',
  'EISDIR',
  'ENXIO',
  'ENODEV',
  'ENAMETOOLONG',
  'EINVAL',
]);

/**
 * The trusted users: us, root, and the owner of the directory, who could put any file into it. Others can only create files in a
 * directory that is open to everybody, and such files are not trusted.
 */
export function readOwners(disk: Disk, directory: string): Owners {
  if (disk.uid === null) return null;
  const stat = readStat(disk, directory);
  return new Set([disk.uid, ROOT, ...(stat === null ? [] : [stat.uid])]);
}

/**
 * Reads a small file as text. Nothing is changed, not even a mode that is too open, because the store is not ours. Symlinks are
 * not followed, and a pipe does not block.
 * @param most bytes; a longer file is refused
 * @throws Fault `unreadable` for a failure that is not about this file
 */
export function readSmall(disk: Disk, path: string, most: number, owners: Owners): SmallFile {
  const opened = openSmall(disk, path, owners);
  if (opened.is !== 'open') return opened;
  try {
    if (opened.stat.size > most) return { is: 'refused', why: `is ${opened.stat.size} bytes long, over ${most}` };
    return { is: 'text', text: readBytes(disk, opened.fd, opened.stat.size).toString('utf8') };
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    disk.files.close(opened.fd);
  }
}

export type OpenSmallFile =
  | { readonly is: 'open'; readonly fd: number; readonly stat: Stat }
  | Exclude<SmallFile, { is: 'text' }>;

/** Opens such a file; the caller closes the descriptor. */
export function openSmall(disk: Disk, path: string, owners: Owners): OpenSmallFile {
  let fd: number;
  try {
    fd = disk.files.open(path, CAREFUL, 0);
  } catch (error) {
    return toFailure(error, path);
  }
  const stat = disk.files.fstat(fd);
  const why = findFileDefect(stat, owners);
  if (why === null) return { is: 'open', fd, stat };
  disk.files.close(fd);
  return { is: 'refused', why };
}

/** Why a file must not be read; null for a regular file of a trusted owner. */
export function findFileDefect(stat: Stat, owners: Owners): string | null {
  switch (stat.kind) {
    case 'symlink':
      return 'is a symlink, which is never followed';
    case 'directory':
      return 'is a directory, not a file';
    case 'other':
      return 'is a pipe, socket or device, not a file';
    case 'file':
      return findOwnerDefect(stat, owners);
  }
}

/** Why a directory of the store must not be entered; null for a real directory of a trusted owner. */
export function findDirectoryDefect(stat: Stat, owners: Owners): string | null {
  if (stat.kind === 'directory') return findOwnerDefect(stat, owners);
  return stat.kind === 'symlink' ? 'is a symlink, which is never followed' : 'is not a directory';
}

function findOwnerDefect({ uid }: Stat, owners: Owners): string | null {
  return owners === null || owners.has(uid) ? null : `belongs to user ${uid}, whose files are not trusted`;
}

/** The first `size` bytes, or fewer when the file was truncated. */
export function readBytes(disk: Disk, fd: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const got = disk.files.read(fd, bytes.subarray(done), done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}

function toFailure(error: unknown, path: string): Exclude<SmallFile, { is: 'text' }> {
  const code = getErrno(error);
  if (code === 'ENOENT') return { is: 'absent' };
  const fault = toIoFault(error, path, 'unreadable');
  if (!FILE_ERRNOS.has(code)) throw fault;
  return { is: 'refused', why: fault.message.slice(`${path}: `.length) };
}

/** The stat of a name itself, not of what a link points to; null when it does not exist. @throws Fault `unreadable` */
export function readStat(disk: Disk, path: string): Stat | null {
  try {
    return disk.files.lstat(path);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  }
}

/** Like `readStat`, but a failure that concerns only this file is returned. */
export function tryStat(
  disk: Disk,
  path: string,
): { readonly is: 'stat'; readonly stat: Stat } | Exclude<SmallFile, { is: 'text' }> {
  try {
    const stat = disk.files.lstat(path);
    return stat === null ? { is: 'absent' } : { is: 'stat', stat };
  } catch (error) {
    return toFailure(error, path);
  }
}

/** Why a directory of the store, and everything in it, must not be read; null when it may be, or does not exist. */
export function readDirectoryDefect(disk: Disk, directory: string, owners: Owners): string | null {
  const statResult = tryStat(disk, directory);
  if (statResult.is !== 'stat') return statResult.is === 'refused' ? statResult.why : null;
  return findDirectoryDefect(statResult.stat, owners);
}

/**
 * The names in a directory, sorted; empty when it does not exist.
 * @throws Fault `unreadable` for any other reason, because that does not mean an empty store (garden contract 7)
 */
export function listNames(disk: Disk, directory: string): readonly string[] {
  const listed = tryListNames(disk, directory);
  switch (listed.is) {
    case 'names':
      return listed.names;
    case 'absent':
      return [];
    case 'refused':
      throw createRefusal(directory, listed.why, 'unreadable');
  }
}

/** Like `listNames`, for a directory whose failure must not stop other directories from being read. */
export function tryListNames(
  disk: Disk,
  directory: string,
): { readonly is: 'names'; readonly names: readonly string[] } | Exclude<SmallFile, { is: 'text' }> {
  try {
    return { is: 'names', names: disk.files.readdir(directory).sort() };
  } catch (error) {
    return toFailure(error, directory);
  }
}
