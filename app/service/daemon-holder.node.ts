import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { DaemonPlaces } from '../../core/link/index.ts';
import { type Disk, isLocked } from '../../core/state/index.ts';
import { lifeOf, startKeyOf } from '../open/index.ts';

/** What has to end, and how it is made to. */
export interface Target {
  isGone(): boolean;
  /** Sent only while it is sure whom it reaches. False: it is not, and nothing was sent. */
  signal(name: 'SIGTERM' | 'SIGKILL'): boolean;
}

type Places = Pick<DaemonPlaces, 'locked' | 'pid'>;

/** Whether a process is this daemon now. The lock of a process goes when it does, however it goes. */
export function isHeld(disk: Disk, { locked, pid }: Places): boolean {
  if (process.platform !== 'win32') return isLocked(disk, `${locked}.lock`);
  // No lock can be looked at there without taking it: what a daemon wrote down is removed when it ends well. Not run there.
  const number = numberIn(pid);
  return number !== null && lifeOf({ pid: number, startKey: null }, process.platform) !== 'gone';
}

/**
 * The process that is this daemon, whatever it answers. Its number is believed only while the lock is held, on Linux only
 * when that very process has the lock open, and with its start, so that no stranger is ever hit.
 */
export function holderOf(disk: Disk, places: Places): Target {
  const { platform } = process;
  const pid = numberIn(places.pid);
  const startKey = pid === null ? null : startKeyOf(pid, platform);
  // Where no lock can be looked at, a number proves nothing: the launcher ends what it started.
  const isHolder = (): boolean =>
    platform !== 'win32' &&
    pid !== null &&
    pid === numberIn(places.pid) &&
    isHeld(disk, places) &&
    lifeOf({ pid, startKey }, platform) !== 'gone' &&
    (platform !== 'linux' || hasOpen(pid, `${places.locked}.lock`));
  return {
    isGone: () => !isHeld(disk, places),
    signal(name) {
      if (pid === null || !isHolder()) return false;
      try {
        process.kill(pid, name);
        return true;
      } catch {
        return false; // it went between the look and the signal
      }
    },
  };
}

/** The number of the process that holds the lock, null while nobody does. */
export function holderPid(disk: Disk, places: Places): number | null {
  return isHeld(disk, places) ? numberIn(places.pid) : null;
}

function numberIn(path: string): number | null {
  try {
    const text = readFileSync(path, 'latin1').trim();
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
