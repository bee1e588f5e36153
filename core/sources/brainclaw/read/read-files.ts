import { type Files, O, type Stat } from '../../../ports/index.ts';
import { getErrno, toIoFault } from '../../../state/index.ts';

/** All that is asked of the disk. Nothing of it writes, locks or starts anything, so no reader here can (brainclaw contract 9). */
export type ReadFiles = Pick<Files, 'open' | 'read' | 'fstat' | 'close' | 'readdir' | 'lstat'>;

const CAREFUL = O.RDONLY | O.NOFOLLOW | O.NONBLOCK;

/** What cannot be had of one file. Any other failure is the machine's, and no answer. */
export type MissingFile = { readonly is: 'absent' } | { readonly is: 'refused'; readonly why: string };

const FILE_ERRNOS = new Set(['ELOOP', 'EMLINK', 'EACCES', 'EPERM', 'EISDIR', 'ENXIO', 'ENODEV', 'ENAMETOOLONG']);

/**
 * A regular file, open for reading; the descriptor is the caller's to close. No symlink is followed, no pipe waited for.
 * @throws Fault `unreadable` for what is not about this file
 */
export function openFile(
  files: ReadFiles,
  path: string,
): { readonly is: 'open'; readonly fd: number; readonly stat: Stat } | MissingFile {
  let fd: number;
  try {
    fd = files.open(path, CAREFUL, 0);
  } catch (error) {
    return toMissing(error, path);
  }
  let isRegularFile = false;
  try {
    const stat = files.fstat(fd);
    isRegularFile = stat.kind === 'file';
    return isRegularFile ? { is: 'open', fd, stat } : { is: 'refused', why: 'is not a file' };
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    if (!isRegularFile) files.close(fd);
  }
}

/**
 * A file as it is now, at most so many bytes.
 * @throws Fault `unreadable` for what is not about this file
 */
export function readFile(
  files: ReadFiles,
  path: string,
  most: number,
): { readonly is: 'bytes'; readonly bytes: Buffer } | MissingFile {
  const opened = openFile(files, path);
  if (opened.is !== 'open') return opened;
  try {
    const { size } = opened.stat;
    if (size > most) return { is: 'refused', why: `is ${size} bytes long, over ${most}` };
    return { is: 'bytes', bytes: readBytes(files, opened.fd, 0, size) };
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    files.close(opened.fd);
  }
}

/** So many bytes from there on, fewer when the file ends before. */
export function readBytes(files: ReadFiles, fd: number, position: number, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count);
  let done = 0;
  while (done < count) {
    const got = files.read(fd, bytes.subarray(done), position + done);
    if (got === 0) break;
    done += got;
  }
  return bytes.subarray(0, done);
}

/**
 * The names in a directory, sorted; null when it is not there.
 * @throws Fault `unreadable` for any other reason: that is not an empty store
 */
export function listNames(files: ReadFiles, directory: string): readonly string[] | null {
  try {
    return files.readdir(directory).sort();
  } catch (error) {
    const code = getErrno(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw toIoFault(error, directory, 'unreadable');
  }
}

/** What a name stands for, itself and not what it points to; null when it is not there. @throws Fault `unreadable` */
export function readStat(files: ReadFiles, path: string): Stat | null {
  try {
    return files.lstat(path);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  }
}

function toMissing(error: unknown, path: string): MissingFile {
  const code = getErrno(error);
  if (code === 'ENOENT') return { is: 'absent' };
  const fault = toIoFault(error, path, 'unreadable');
  if (!FILE_ERRNOS.has(code)) throw fault;
  return { is: 'refused', why: fault.message.slice(`${path}: `.length) };
}
