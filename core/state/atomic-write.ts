import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { O, type Random } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { getErrno, toIoFault } from './io-fault.ts';
import { syncDirectory } from './private-dir.ts';
import { PRIVATE_FILE, retryWithDirectories } from './safe-open.ts';

/**
 * Replaces a file so that a reader, a kill or a power cut sees the old text or the new, never a mix: temporary file in the
 * same directory, write, fsync, rename, fsync of the directory (Kijito spec 7.3). A failure leaves the old file as it
 * was, except that of the last step, after which the new text is there but may not survive a power cut.
 *
 * @throws Fault `no-space` or `unwritable`; the temporary file is gone unless removing it failed as well.
 */
export function writeAtomically(disk: Disk, random: Random, path: string, content: string | Uint8Array): void {
  const { files } = disk;
  writeThroughTemp(disk, random, path, content, (temp) => files.rename(temp, path));
  try {
    syncDirectory(disk, dirname(path));
  } catch (error) {
    throw toIoFault(
      error,
      `${path}: written, but a power cut may bring the old one back: ${dirname(path)}`,
      'unwritable',
    );
  }
}

/**
 * Makes a file that is not there yet, whole from its first moment, and never replaces one: temporary file, write, fsync, a
 * link under the final name, fsync of the directory. False: the name is taken, by whatever, and nothing was changed.
 *
 * @throws Fault `no-space` or `unwritable`; the temporary file is gone unless removing it failed as well.
 */
export function createAtomically(disk: Disk, random: Random, path: string, text: string): boolean {
  const { files } = disk;
  let created = true;
  writeThroughTemp(disk, random, path, text, (temp) => {
    try {
      files.link(temp, path);
    } catch (error) {
      if (getErrno(error) !== 'EEXIST') throw error;
      created = false;
    }
    discard(disk, temp);
  });
  if (!created) return false;
  try {
    syncDirectory(disk, dirname(path));
  } catch (error) {
    throw toIoFault(error, `${path}: written, but a power cut may take it away: ${dirname(path)}`, 'unwritable');
  }
  return true;
}

/** The content in a temporary file beside `path`, on the disk, for `place` to put under its name. */
function writeThroughTemp(
  disk: Disk,
  random: Random,
  path: string,
  content: string | Uint8Array,
  place: (temp: string) => void,
): void {
  const temp = join(dirname(path), `${toTempPrefix(path)}${random.hex(6)}.tmp`);
  const { files } = disk;
  try {
    const flags = O.WRONLY | O.CREAT | O.EXCL | O.NOFOLLOW;
    const fd = retryWithDirectories(disk, temp, () => files.open(temp, flags, PRIVATE_FILE));
    try {
      try {
        writeAll(disk, fd, typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
        files.fsync(fd);
      } finally {
        files.close(fd);
      }
      place(temp);
    } catch (error) {
      discard(disk, temp);
      throw error;
    }
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/**
 * Removes the temporary files that a kill left behind for `path` (D25). The caller holds the lock of `path`, so no live
 * writer can own one; those of other files are named differently and not touched. Returns how many went.
 */
export function sweepTemps(disk: Disk, path: string): number {
  const directory = dirname(path);
  const prefix = toTempPrefix(path);
  let swept = 0;
  try {
    for (const name of disk.files.readdir(directory)) {
      if (!name.startsWith(prefix) || !name.endsWith('.tmp')) continue;
      disk.files.unlink(join(directory, name));
      swept += 1;
    }
  } catch (error) {
    // Litter, not a failure: the next start tries again.
    if (getErrno(error) !== 'ENOENT') disk.log.warn(toIoFault(error, directory, 'unwritable').message, { path });
  }
  return swept;
}

/** Names the file the temporary one is for, so that a sweep knows its own. */
function toTempPrefix(path: string): string {
  return `.kijmon-${createHash('sha256').update(basename(path)).digest('hex').slice(0, 8)}-`;
}

/** @throws what `write` throws, or an error when it makes no progress. */
function writeAll(disk: Disk, fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const wrote = disk.files.write(fd, bytes.subarray(done));
    if (wrote === 0) throw new Error('the disk takes no more bytes');
    done += wrote;
  }
}

function discard(disk: Disk, temp: string): void {
  try {
    disk.files.unlink(temp);
  } catch {
    // The failure that led here is the one to report; the next start sweeps this file.
  }
}
