import { O } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { createRefusal, toIoFault } from './io-fault.ts';
import { formatOctal, PRIVATE_DIRECTORY } from './safe-open.ts';

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
        throw createRefusal(path, `belongs to user ${stat.uid}, not to us (user ${uid})`, 'unwritable');
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
