import { createRefusal, type Disk } from '../../state/index.ts';

/** The limit of a queue or of its copy, because both are read as a whole. */
const MOST_BYTES = 64 * 1024 * 1024;
const AT_ONCE = 64 * 1024;

/** Reads everything from an open file. @throws Fault `unreadable` if that is more than 64 MiB */
export function readFrom({ files }: Disk, fd: number, path: string): Uint8Array {
  const { size } = files.fstat(fd);
  if (size > MOST_BYTES) {
    throw createRefusal(
      path,
      `has ${size} bytes, over ${MOST_BYTES}; nothing of it was taken, move it away`,
      'unreadable',
    );
  }
  const parts: Uint8Array[] = [];
  for (let at = 0; ; ) {
    const part = Buffer.alloc(Math.max(AT_ONCE, size - at));
    const got = files.read(fd, part, at);
    if (got === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, got));
    at += got;
  }
}

/** @throws what `write` throws, or an error if it makes no progress */
export function writeAll({ files }: Disk, fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const wrote = files.write(fd, bytes.subarray(done));
    if (wrote === 0) throw new Error('the disk takes no more bytes');
    done += wrote;
  }
}
