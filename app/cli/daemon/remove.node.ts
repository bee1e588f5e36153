import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DaemonPlaces } from '../../../core/link/index.ts';
import { type Disk, lockFile } from '../../../core/state/index.ts';

/**
 * Removes both directories of a daemon: its installation and what its process left behind. It holds the lock, so that no daemon
 * starts in between, and removes the lock file last.
 * @throws Fault `lock-held` while the daemon runs
 */
export function removeDaemonFiles(disk: Disk, { dir, runtime, locked, pid }: DaemonPlaces): void {
  using lock = disk.files.lstat(dirname(locked)) === null ? null : lockFile(disk, locked);
  for (const path of [dir, runtime, pid]) rmSync(path, { recursive: true, force: true });
  if (lock === null || process.platform === 'win32') return; // Windows cannot remove an open file
  rmSync(lock.path, { force: true });
}
