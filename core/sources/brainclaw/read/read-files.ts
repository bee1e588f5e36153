import { type Files, O, type Stat } from '../../../ports/index.ts';
import { getErrno, toIoFault } from '../../../state/index.ts';

/**
 * The file operations that readers here get. None of them writes, locks or starts anything, so no reader can (brainclaw contract
 * 9).
 */
export type ReadFiles = Pick<Files, 'open' | 'read' | 'fstat' | 'close' | 'readdir' | 'lstat'>;

const CAREFUL = O.RDONLY | O.NOFOLLOW | O.NONBLOCK;

/** Why one file cannot be read. Any other failure concerns the machine and is thrown. */
export type MissingFile = { readonly is: 'absent' } | { readonly is: 'refused'; readonly why: string };

const FILE_ERRNOS = new Set(['ELOOP', 'EMLINK', 'EACCES', 'EPERM', 'EISDIR', 'ENXIO', 'ENODEV', 'ENAMETOOLONG']);

/**
 * Opens a regular file for reading; the caller closes the descriptor. Symlinks are not followed, and a pipe does not block.
 * @throws Fault `unreadable` for a failure that is not about this file
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
 * The current content of a file of at most `most` bytes.
 * @throws Fault `unreadable` for a failure that is not about this file
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

/** Reads `count` bytes from `position` on, or fewer when the file ends before. */
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
 * The names in a directory, sorted; null when the directory does not exist.
 * @throws Fault `unreadable` for any other reason, because that does not mean an empty store
 */
export function listNames(files: ReadFiles, directory: string): readonly string[] | null {
  try {
    return files.readdir(directory).sort();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return null;
    throw toIoFault(error, directory, 'unreadable');
  }
}

/** The stat of a name itself, not of what a link points to; null when it does not exist. @throws Fault `unreadable` */
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
