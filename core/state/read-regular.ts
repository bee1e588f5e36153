import { type Files, O } from '../ports/index.ts';
import { createRefusal, getErrno, toIoFault } from './io-fault.ts';

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
      if (size > most) throw createRefusal(path, `has ${size} bytes, and more than ${most} are not read`, 'unreadable');
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
    if (at > most) throw createRefusal(path, `has more than the ${most} bytes that are read`, 'unreadable');
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
