import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Fault } from '../model/index.ts';
import { O, type Random, writeAll } from '../ports/index.ts';
import {
  createRefusal,
  type Disk,
  formatOctal,
  getErrno,
  PRIVATE_DIRECTORY,
  PRIVATE_FILE,
  retryWithDirectories,
  toIoFault,
} from './safe-open.ts';

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
        writeAll(disk.files, fd, typeof content === 'string' ? Buffer.from(content, 'utf8') : content);
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

function discard(disk: Disk, temp: string): void {
  try {
    disk.files.unlink(temp);
  } catch {
    // The caller reports the failure that led here; the next start removes this file.
  }
}

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
      writeAll(files, fd, bytes);
      return null;
    } finally {
      files.close(fd);
      files.unlink(path);
    }
  } catch (error) {
    return toIoFault(error, directory, 'unwritable');
  }
}

/**
 * Makes sure that a directory of Hivebar's own exists. Every level that this creates has mode 0700. The directory must be ours
 * and no symlink, and its own mode is tightened to 0700, with a log line. All checks use the open descriptor. Existing parents
 * stay as they are.
 *
 * @throws Fault `unwritable` or `no-space`, naming path and reason.
 */
export function ensurePrivateDir(disk: Disk, path: string): void {
  const { files, log, uid } = disk;
  try {
    files.mkdirAll(path, PRIVATE_DIRECTORY);
    if (O.DIRECTORY === 0) return; // the platform opens no directories; its user profile is private by itself
    const fd = files.open(path, O.RDONLY | O.DIRECTORY | O.NOFOLLOW | O.NONBLOCK, 0);
    try {
      const stat = files.fstat(fd);
      if (uid === null) return;
      if (stat.uid !== uid)
        throw createRefusal(path, `belongs to user ${stat.uid}, but Hivebar runs as user ${uid}`, 'unwritable');
      if (stat.mode === PRIVATE_DIRECTORY) return;
      files.fchmod(fd, PRIVATE_DIRECTORY);
      log.warn(`${path} had mode ${formatOctal(stat.mode)}; it is ${formatOctal(PRIVATE_DIRECTORY)} now`, { path });
    } finally {
      files.close(fd);
    }
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/**
 * Makes the names in a directory durable: a new, renamed or deleted file survives a power cut only after this (Kijito contract j,
 * traps 5 and 6). Does nothing on a platform that cannot open directories.
 */
export function syncDirectory(disk: Disk, path: string): void {
  if (O.DIRECTORY === 0) return;
  const fd = disk.files.open(path, O.RDONLY | O.DIRECTORY | O.NONBLOCK, 0);
  try {
    disk.files.fsync(fd);
  } finally {
    disk.files.close(fd);
  }
}
