import type { Files } from '../../ports/index.ts';

const NEWLINE = 10;
/** The first chunk is enough for most files. The second size is for everything before it. */
const FIRST_CHUNK = 4096;
const CHUNK = 65_536;

/**
 * Reads a file from its end. Yields first the bytes after the last newline (empty in a whole file), then each whole
 * line without its newline, newest first. It reads no further back than the caller asks.
 */
export function* readPiecesFromEnd(files: Files, fd: number, size: number): Iterable<Buffer> {
  let unread = size;
  let rest = Buffer.alloc(0);
  while (unread > 0) {
    const chunk = Buffer.alloc(Math.min(unread === size ? FIRST_CHUNK : CHUNK, unread));
    unread -= chunk.length;
    readFully(files, fd, chunk, unread);
    const bytes = Buffer.concat([chunk, rest]);
    let end = bytes.length;
    for (let at = end; at > 0; ) {
      at = bytes.lastIndexOf(NEWLINE, at - 1);
      if (at < 0) break;
      yield bytes.subarray(at + 1, end);
      end = at;
    }
    rest = bytes.subarray(0, end);
  }
  yield rest;
}

function readFully(files: Files, fd: number, into: Uint8Array, position: number): void {
  for (let done = 0; done < into.length; ) {
    const n = files.read(fd, into.subarray(done), position + done);
    if (n === 0) throw new Error(`the file became shorter while it was read (${into.length - done} bytes missing)`);
    done += n;
  }
}
