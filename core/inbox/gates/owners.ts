import { join } from 'node:path';
import { type Disk, getErrno, toIoFault } from '../../state/index.ts';

/**
 * The stems of all personas that ever had a gate file. Reads one directory instead of one per persona. @throws Fault `unreadable`
 */
export function readGateOwners(disk: Disk, state: string): ReadonlySet<string> {
  const directory = join(state, 'gates');
  try {
    return new Set(disk.files.readdir(directory));
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return new Set();
    throw toIoFault(error, directory, 'unreadable');
  }
}
