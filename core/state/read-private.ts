import type { Disk } from './disk.ts';
import { toIoFault } from './io-fault.ts';
import { openForRead } from './safe-open.ts';

/**
 * A small private file as it is, under the checks of `openForRead`; null when nothing is there. Of one that is longer than
 * `most` bytes only so much as shows it: `most + 1` bytes.
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
      if (got === 0) break; // it became shorter under our hands; what is there is judged
      done += got;
    }
    return bytes.subarray(0, done);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    disk.files.close(opened.fd);
  }
}
