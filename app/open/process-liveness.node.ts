import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { isFlocked, readLockTable } from '../../core/state/index.ts';
import type { SessionProcess } from './session.ts';

/** `unknown` means that there is a process with this pid, but it may be another one. */
export type ProcessLiveness = 'live' | 'gone' | 'unknown';

/** Returns whether the announced process still runs, and is not another one with the same pid. */
export function checkLiveness({ pid, startKey, lock }: SessionProcess, platform: NodeJS.Platform): ProcessLiveness {
  if (lock !== undefined && lock !== null) return checkLockLiveness(lock, pid, platform);
  if (!isRunning(pid)) return 'gone';
  const now = readStartKey(pid, platform);
  if (now === null && startKey !== null && platform === 'linux') return 'gone'; // a zombie, or it has just ended
  if (now === null || startKey === null) return 'unknown';
  return now === startKey ? 'live' : 'gone';
}

/** How many cheap checks follow a whole one. */
const CHEAP_CHECKS = 2;

/**
 * Creates a check for processes that are checked again and again. Most checks only ask whether there is a process with that pid. That
 * it is the same one is checked now and then, and only once where another program has to be asked for it (anywhere but Linux).
 */
export function createLivenessCheck(platform: NodeJS.Platform): (runner: SessionProcess) => ProcessLiveness {
  const found = new Map<string, { readonly is: ProcessLiveness; checks: number }>();
  return (runner) => {
    const { pid, startKey, lock } = runner;
    if (lock != null) return checkLiveness(runner, platform);
    const key = `${pid} ${startKey}`;
    const before = found.get(key);
    const isDue = before === undefined || (platform === 'linux' && before.checks >= CHEAP_CHECKS);
    if (!isDue && isRunning(pid)) {
      before.checks += 1;
      return before.is;
    }
    const is = checkLiveness(runner, platform);
    if (is === 'gone') found.delete(key);
    else found.set(key, { is, checks: 0 });
    return is;
  };
}

/** Returns whether the process that was announced on this machine is gone. */
export function isProcessGone(runner: SessionProcess): boolean {
  return checkLiveness(runner, process.platform) === 'gone';
}

/** A server may be restarted and take the session over. So the lock is checked instead of the process, where that is possible. */
function checkLockLiveness(path: string, pid: number, platform: NodeJS.Platform): ProcessLiveness {
  if (platform !== 'linux') return isRunning(pid) ? 'unknown' : 'gone';
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return 'gone';
    const table = readLockTable();
    if (table === null) return 'unknown';
    return isFlocked(table, stat.ino) ? 'live' : 'gone';
  } catch {
    return 'unknown'; // the lock cannot be read
  }
}

/**
 * Returns a text that no other process with this pid will have. On Linux it is the boot id and the start in clock ticks since
 * boot, on other Unix systems the start time in seconds. Null on Windows, and for a process that does not exist.
 */
export function readStartKey(pid: number, platform: NodeJS.Platform): string | null {
  if (!Number.isInteger(pid) || pid < 1) return null;
  switch (platform) {
    case 'win32':
      return null;
    case 'linux':
      return readLinuxStartKey(pid);
    default:
      return readStartTime(pid);
  }
}

function readLinuxStartKey(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the second field is the name in parentheses, which may contain both blanks and parentheses.
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, start] = [afterName[0], afterName[22 - 3]];
    if (state === 'Z' || state === 'X' || start === undefined) return null; // has ended, but its parent has not waited for it
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}:${start}`;
  } catch {
    return null; // no such process, or a system without /proc: nothing is known
  }
}

function readStartTime(pid: number): string | null {
  try {
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }; // one spelling in every environment
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    const output = execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { env, stdio, timeout: 2000 });
    const start = output.toString('latin1').trim();
    return start === '' ? null : start;
  } catch {
    return null; // ps ends with 1 when there is no such process
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists all the same.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
