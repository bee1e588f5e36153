import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DaemonPlaces } from '../../../core/link/index.ts';
import { type Disk, lockFile } from '../../../core/state/index.ts';

/**
 * What was installed, and what its process left behind, both directories whole. Under its lock, so that none starts between;
 * the lock file goes last.
 * @throws Fault `lock-held` while it runs
 */
export function removeDaemonFiles(disk: Disk, { dir, runtime, locked, pid }: DaemonPlaces): void {
  using lock = disk.files.lstat(dirname(locked)) === null ? null : lockFile(disk, locked);
  for (const path of [dir, runtime, pid]) rmSync(path, { recursive: true, force: true });
  if (lock === null || process.platform === 'win32') return; // an open file cannot be removed there
  rmSync(lock.path, { force: true });
}
