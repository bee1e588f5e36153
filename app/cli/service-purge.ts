import { join } from 'node:path';
import { type Disk, getErrno, isLocked, toIoFault } from '../../core/state/index.ts';
import { HEADLESS_LOG } from '../service/index.ts';

/** The files in the directory of the headless service. */
export interface Purge {
  /** Files that are removed: positions, locks and the log, which only the service needs. */
  readonly goes: readonly string[];
  /** Files that stay: everything else. Event files hold mail that an agent may not have read. */
  readonly stays: readonly string[];
}

const POSITION = /^hive(\..+)?\.json(\.lock)?$/;

/** @throws Fault `unreadable` */
export function planPurge({ files }: Disk, directory: string): Purge {
  const goes: string[] = [];
  const stays: string[] = [];
  for (const name of listNames(files, directory)) {
    const isOurs = POSITION.test(name) || name === HEADLESS_LOG || name === `${HEADLESS_LOG}.1`;
    (isOurs && files.lstat(join(directory, name))?.kind === 'file' ? goes : stays).push(join(directory, name));
  }
  return { goes, stays };
}

/** Finds the first lock that a running watch holds; null: none. @throws Fault `unreadable` */
export function findHeldLock(disk: Disk, { goes }: Purge): string | null {
  return goes.find((path) => path.endsWith('.lock') && isLocked(disk, path)) ?? null;
}

/** @throws Fault `unwritable` */
export function purge({ files }: Disk, { goes }: Purge): void {
  for (const path of goes) {
    try {
      files.unlink(path);
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw toIoFault(error, path, 'unwritable');
    }
  }
}

function listNames(files: Disk['files'], directory: string): readonly string[] {
  try {
    return files.readdir(directory).toSorted();
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return [];
    throw toIoFault(error, directory, 'unreadable');
  }
}
