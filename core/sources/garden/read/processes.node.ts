import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isPlausible, type Processes, type ProcessState, startsInPs, stateOfStat } from './start-key.ts';

const PS_MS = 5000;

/** The processes of this machine: `/proc` where there is one, else one `ps` for all (garden contract 2). */
export const realProcesses: Processes = async (pids) => {
  const wanted = [...new Set(pids)].filter(isPlausible);
  if (wanted.length === 0) return new Map();
  if (hasProc()) return new Map(wanted.map((pid) => [pid, fromProc(pid)]));
  const seen = startsInPs(await ps(wanted));
  return new Map(wanted.map((pid) => [pid, seen.get(pid) ?? signalled(pid)]));
};

function hasProc(): boolean {
  try {
    return stateOfStat(readFileSync('/proc/self/stat', 'utf8')).is === 'running';
  } catch {
    return false; // not Linux, or it is not mounted
  }
}

function fromProc(pid: number): ProcessState {
  try {
    return stateOfStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return signalled(pid); // it ended, or other users' processes are hidden from us
  }
}

/** Whether there is a process of this number at all, where nothing tells when it started. */
function signalled(pid: number): ProcessState {
  try {
    process.kill(pid, 0);
    return { is: 'unknown' };
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    return { is: gone ? 'gone' : 'unknown' };
  }
}

/** Its time zone and language are ours, as they are for whoever wrote a key. Nothing when it is not there. */
function ps(pids: readonly number[]): Promise<string> {
  return new Promise((resolve) => {
    const args = ['-o', 'pid=,lstart=', '-p', pids.join(',')];
    execFile('ps', args, { encoding: 'utf8', timeout: PS_MS }, (_, stdout) => resolve(stdout));
  });
}
