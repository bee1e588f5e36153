import { type Disk, getErrno, toIoFault } from '../../../state/index.ts';

/** Lists a directory, sorted; empty when it does not exist. @throws Fault `unreadable` */
export function listNames(disk: Disk, directory: string): readonly string[] {
  try {
    return disk.files.readdir(directory).sort();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw toIoFault(error, directory, 'unreadable');
  }
}
