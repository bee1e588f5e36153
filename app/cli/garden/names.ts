import { type Disk, getErrno, toIoFault } from '../../../core/state/index.ts';

/** What is in a directory, sorted; nothing when it is not there. @throws Fault `unreadable` */
export function listNames(disk: Disk, directory: string): readonly string[] {
  try {
    return disk.files.readdir(directory).sort();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw toIoFault(error, directory, 'unreadable');
  }
}
