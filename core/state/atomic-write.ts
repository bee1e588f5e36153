import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { O, type Random } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { getErrno, toIoFault } from './io-fault.ts';
import { syncDirectory } from './private-dir.ts';
import { PRIVATE_FILE, retryWithDirectories } from './safe-open.ts';

/**
 * Replaces a file so that a reader, a kill or a power cut sees the old text or the new, never a mix. The steps: temporary file in
 * the same directory, write, fsync, rename, fsync of the directory (Kijito spec 7.3).
 * A failure leaves the old file as it was. Only after a failure of the last step is the new text in place, and it may not survive
 * a power cut.
 *
 * @throws Fault `no-space` or `unwritable`; the temporary file is removed, unless that failed as well.
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
 * Creates a file that does not exist yet, complete from its first moment, and never replaces one. The steps: temporary file,
 * write, fsync, link under the final name, fsync of the directory.
 * Returns false when the name is taken, by anything; then nothing was changed.
 *
 * @throws Fault `no-space` or `unwritable`; the temporary file is removed, unless that failed as well.
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

/** Writes and syncs the content to a temporary file beside `path`. Then `place` puts it under its name. */
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
 * Removes the temporary files that a kill left behind for `path` (D25). The caller holds the lock of `path`, so no live writer
 * can own one. Temporary files of other files have other names and stay. Returns how many were removed.
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
    // A leftover is no failure: the next start tries again.
    if (getErrno(error) !== 'ENOENT') disk.log.warn(toIoFault(error, directory, 'unwritable').message, { path });
  }
  return swept;
}

/** The prefix identifies the target file, so that a sweep removes only temporary files of that one. */
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
    // The caller reports the failure that led here; the next start removes this file.
  }
}
