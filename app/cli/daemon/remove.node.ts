import { rmSync } from 'node:fs';
import type { DaemonPlaces } from '../../../core/link/index.ts';
import { type Disk, lockFile } from '../../../core/state/index.ts';

/**
 * What was installed, and what its process left behind, both directories whole. Under its lock, so that none starts between.
 * @throws Fault `lock-held` while it runs
 */
export function removeDaemonFiles(disk: Disk, { dir, runtime, locked }: DaemonPlaces): void {
  using _ = disk.files.lstat(runtime) === null ? null : lockFile(disk, locked);
  for (const path of [dir, runtime]) rmSync(path, { recursive: true, force: true });
}
