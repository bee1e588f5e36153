import { existsSync, readdirSync, statSync } from 'node:fs';
import type { DaemonPlaces } from '../../core/link/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { type Disk, isLocked, lockFile, readText } from '../../core/state/index.ts';
import { checkLiveness, readStartKey } from '../open/index.ts';

/** What has to end, and how it is made to. */
export interface DaemonHandle {
  isGone(): boolean;
  /** Sent only while it is sure whom it reaches. False: it is not, and nothing was sent. */
  signal(name: 'SIGTERM' | 'SIGKILL'): boolean;
}

type LockPlaces = Pick<DaemonPlaces, 'locked' | 'pid'>;

/**
 * Whether a process is this daemon now. The lock of a process goes when it does, however it goes; a process number that was
 * written down proves nothing, since another process may have it by now.
 */
export function isHeld(disk: Disk, { locked }: Pick<LockPlaces, 'locked'>): boolean {
  if (process.platform !== 'win32') return isLocked(disk, `${locked}.lock`);
  // There a lock can only be looked at by taking it. A daemon that starts at this moment asks more than once.
  if (disk.files.lstat(`${locked}.lock`) === null) return false;
  try {
    lockFile(disk, locked)[Symbol.dispose]();
    return false;
  } catch (error) {
    if (error instanceof Fault && error.code === 'lock-held') return true;
    throw error;
  }
}

/**
 * The process that is this daemon, whatever it answers. Its number is believed when it holds the lock, on Linux when that very
 * process has the lock open, and from then on with its start, so that no stranger is ever hit.
 */
export function createDaemonHandle(disk: Disk, places: LockPlaces): DaemonHandle {
  const { platform } = process;
  let holder = identifyHolder(disk, places, platform);
  const isThere = ({ pid, startKey }: HolderProcess): boolean => {
    const life = checkLiveness({ pid, startKey }, platform);
    return life === 'live' || (life === 'unknown' && isHeld(disk, places));
  };
  return {
    isGone: () => (holder === null ? !isHeld(disk, places) : !isThere(holder)),
    signal(name) {
      holder ??= identifyHolder(disk, places, platform); // it was just starting
      // Where no lock can be looked at, a number proves nothing: the launcher ends what it started.
      if (holder === null || platform === 'win32' || !isThere(holder)) return false;
      try {
        process.kill(holder.pid, name);
        return true;
      } catch {
        return false; // it went between the look and the signal
      }
    },
  };
}

interface HolderProcess {
  readonly pid: number;
  readonly startKey: string | null;
}

/** Null: nobody holds the lock, or it cannot be told who. */
function identifyHolder(disk: Disk, places: LockPlaces, platform: NodeJS.Platform): HolderProcess | null {
  const pid = findHolderPid(disk, places);
  if (pid === null || (platform === 'linux' && !hasOpen(pid, `${places.locked}.lock`))) return null;
  return { pid, startKey: readStartKey(pid, platform) };
}

/** The number of the process that holds the lock, null while nobody does. */
export function findHolderPid(disk: Disk, places: LockPlaces): number | null {
  return isHeld(disk, places) ? readPid(places.pid) : null;
}

function readPid(path: string): number | null {
  try {
    const text = readText(realFiles, path, 64)?.trim() ?? '';
    return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  } catch {
    return null; // nobody has written it yet, or it is gone
  }
}

function hasOpen(pid: number, path: string): boolean {
  const fds = `/proc/${pid}/fd`;
  try {
    if (!existsSync(path)) return false;
    const { dev, ino } = statSync(path);
    return readdirSync(fds).some((fd) => {
      const open = statSync(`${fds}/${fd}`, { throwIfNoEntry: false });
      return open?.ino === ino && open.dev === dev;
    });
  } catch {
    return false; // it is gone, or not ours to look at
  }
}
