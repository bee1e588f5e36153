import { existsSync, readdirSync, statSync } from 'node:fs';
import type { DaemonPlaces } from '../../core/link/index.ts';
import { Fault } from '../../core/model/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { type Disk, isLocked, lockFile, readText } from '../../core/state/index.ts';
import { checkLiveness, readStartKey } from '../open/index.ts';

/** A daemon that must end, and the means to end it. */
export interface DaemonHandle {
  isGone(): boolean;
  /** Sends a signal only if it certainly reaches this daemon. Returns false when nothing was sent. */
  signal(name: 'SIGTERM' | 'SIGKILL'): boolean;
}

type LockPlaces = Pick<DaemonPlaces, 'locked' | 'pid'>;

/**
 * Returns whether a process is this daemon now. A process loses its lock when it ends for any reason. A saved pid proves nothing,
 * since another process may have it by now.
 */
export function isHeld(disk: Disk, { locked }: Pick<LockPlaces, 'locked'>): boolean {
  if (process.platform !== 'win32') return isLocked(disk, `${locked}.lock`);
  // On Windows a lock can only be checked by taking it. A daemon that is just starting tries more than once.
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
 * Returns a handle on the process that is this daemon, whatever it answers. Its pid is trusted if the lock is held, and on Linux
 * if that process has the lock file open. From then on its start time is compared as well, so that no other process is ever
 * signalled.
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
      holder ??= identifyHolder(disk, places, platform); // the daemon was just starting
      // Where the lock's owner cannot be identified, a pid proves nothing, so the launcher ends what it started.
      if (holder === null || platform === 'win32' || !isThere(holder)) return false;
      try {
        process.kill(holder.pid, name);
        return true;
      } catch {
        return false; // it ended between the check and the signal
      }
    },
  };
}

interface HolderProcess {
  readonly pid: number;
  readonly startKey: string | null;
}

/** Returns null when nobody holds the lock, or the holder cannot be identified. */
function identifyHolder(disk: Disk, places: LockPlaces, platform: NodeJS.Platform): HolderProcess | null {
  const pid = findHolderPid(disk, places);
  if (pid === null || (platform === 'linux' && !hasOpen(pid, `${places.locked}.lock`))) return null;
  return { pid, startKey: readStartKey(pid, platform) };
}

/** Returns the pid of the process that holds the lock, or null while nobody does. */
export function findHolderPid(disk: Disk, places: LockPlaces): number | null {
  return isHeld(disk, places) ? readPid(places.pid) : null;
}

function readPid(path: string): number | null {
  try {
    const text = readText(realFiles, path, 64)?.trim() ?? '';
    return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  } catch {
    return null; // not written yet, or already removed
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
    return false; // the process is gone, or its files cannot be read
  }
}
