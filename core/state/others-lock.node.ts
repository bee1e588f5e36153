import { O } from '../ports/index.ts';
import type { Disk } from './disk.ts';
import { getErrno, toIoFault } from './io-fault.ts';
import { flockByKoffi, flockByUtilLinux } from './lock.node.ts';

/**
 * Takes the flock of a lock file that another program created, without creating or changing anything. Returns null when its owner
 * holds the lock now; otherwise the caller disposes the result. A lock file that is gone, is no plain file or is on a platform
 * without flock counts as free.
 *
 * @param sidecar the lock file itself, `STATEFILE.lock`
 * @throws Fault `unreadable`
 */
export function takeOthersLock({ files }: Disk, sidecar: string): Disposable | null {
  const nobody: Disposable = { [Symbol.dispose]: () => {} };
  if (process.platform === 'win32' || files.lstat(sidecar)?.kind !== 'file') return nobody;
  let fd: number;
  try {
    fd = files.open(sidecar, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
  } catch (error) {
    if (getErrno(error) === 'ENOENT') return nobody;
    throw toIoFault(error, sidecar, 'unreadable');
  }
  try {
    if (tryFlock(fd)) return { [Symbol.dispose]: () => files.close(fd) };
    files.close(fd);
    return null;
  } catch (error) {
    files.close(fd);
    throw toIoFault(error, sidecar, 'unreadable');
  }
}

/** Whether the owner of this lock file holds it now. @throws Fault `unreadable` */
export function isLocked(disk: Disk, sidecar: string): boolean {
  using lock = takeOthersLock(disk, sidecar);
  return lock === null;
}

function tryFlock(fd: number): boolean {
  try {
    return flockByKoffi(fd).is === 'got';
  } catch {
    return flockByUtilLinux(fd).is === 'got'; // koffi does not load here; this throws when flock(1) does not work either
  }
}
