import type { Disk } from './disk.ts';
import { toIoFault } from './io-fault.ts';
import { openForRead } from './safe-open.ts';

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
