import { type Disk, errnoOf, ioFault } from '../../../core/state/index.ts';

/** What is in a directory, sorted; nothing when it is not there. @throws Fault `unreadable` */
export function namesIn(disk: Disk, directory: string): readonly string[] {
  try {
    return disk.files.readdir(directory).sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw ioFault(error, directory, 'unreadable');
  }
}
