import { type Files, O, type Stat } from '../../../ports/index.ts';
import { getErrno, toIoFault } from '../../../state/index.ts';

/** The only file operations of this folder: none of them writes, locks or creates anything (contract 3). */
export type ReadCalls = Pick<Files, 'open' | 'read' | 'fstat' | 'close' | 'readdir' | 'lstat'>;

/** `refused` concerns this one file or directory. */
export type Unread = { readonly is: 'absent' } | { readonly is: 'refused'; readonly why: string };

const CAREFUL = O.RDONLY | O.NOFOLLOW | O.NONBLOCK;

/**
 * Reads bytes of a regular file. Symlinks are not followed, and a pipe does not block.
 * @param range which bytes of it, by its stat; null reads none
 */
export function readBytes(
  files: ReadCalls,
  path: string,
  range: (stat: Stat) => { readonly from: number; readonly size: number } | null,
): { readonly is: 'bytes'; readonly bytes: Buffer; readonly stat: Stat } | Unread {
  let fd: number;
  try {
    fd = files.open(path, CAREFUL, 0);
  } catch (error) {
    return toUnread(error, path);
  }
  try {
    const stat = files.fstat(fd);
    if (stat.kind !== 'file') return { is: 'refused', why: 'is not a file' };
    const part = range(stat);
    if (part === null) return { is: 'refused', why: `is ${stat.size} bytes long, which is too long` };
    const bytes = Buffer.allocUnsafeSlow(part.size);
    let done = 0;
    while (done < part.size) {
      const got = files.read(fd, bytes.subarray(done), part.from + done);
      if (got === 0) break;
      done += got;
    }
    return { is: 'bytes', bytes: bytes.subarray(0, done), stat };
  } catch (error) {
    return toUnread(error, path);
  } finally {
    files.close(fd);
  }
}

/** Reads a whole file of at most `most` bytes. */
export const readWhole = (files: ReadCalls, path: string, most: number): ReturnType<typeof readBytes> =>
  readBytes(files, path, ({ size }) => (size > most ? null : { from: 0, size }));

/** The names in a directory, sorted. */
export function listNames(
  files: ReadCalls,
  directory: string,
): { readonly is: 'names'; readonly names: readonly string[] } | Unread {
  try {
    return { is: 'names', names: files.readdir(directory).sort() };
  } catch (error) {
    return toUnread(error, directory);
  }
}

/** The stat of a name itself; null when it does not exist or cannot be examined. */
export function tryStat(files: ReadCalls, path: string): Stat | null {
  try {
    return files.lstat(path);
  } catch {
    return null; // reading it says what is wrong
  }
}

function toUnread(error: unknown, path: string): Unread {
  if (getErrno(error) === 'ENOENT') return { is: 'absent' };
  return { is: 'refused', why: toIoFault(error, path, 'unreadable').message.slice(`${path}: `.length) };
}
