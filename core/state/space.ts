import { join } from 'node:path';
import type { Fault } from '../model/index.ts';
import { O, type Random } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { toIoFault } from './io-fault.ts';
import { PRIVATE_FILE } from './safe-open.ts';

/** Less room than this counts as a full disk: a commit, its log and a line of an event file need some pages. */
const PROBE_BYTES = 256 * 1024;

/**
 * Tests whether one of our directories can be written to; null when it can, otherwise the reason. It writes a file and removes
 * it, which also detects quotas and a disk that became read-only.
 */
export function probeSpace(disk: Disk, random: Random, directory: string): Fault | null {
  const { files } = disk;
  const path = join(directory, `.space-${random.hex(6)}.tmp`);
  const bytes = new Uint8Array(PROBE_BYTES);
  try {
    const fd = files.open(path, O.WRONLY | O.CREAT | O.EXCL | O.NOFOLLOW, PRIVATE_FILE);
    try {
      for (let done = 0; done < bytes.length; ) done += files.write(fd, bytes.subarray(done));
      return null;
    } finally {
      files.close(fd);
      files.unlink(path);
    }
  } catch (error) {
    return toIoFault(error, directory, 'unwritable');
  }
}
