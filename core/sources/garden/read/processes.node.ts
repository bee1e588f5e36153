import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isPlausible, type ProcessReader, type ProcessState, parseProcStat, parsePsOutput } from './agent-liveness.ts';

const PS_MS = 5000;

/** Reads the processes of this machine: from `/proc` where that exists, otherwise with one `ps` for all (garden contract 2). */
export const readProcesses: ProcessReader = async (pids) => {
  const plausiblePids = [...new Set(pids)].filter(isPlausible);
  if (plausiblePids.length === 0) return new Map();
  if (hasProc()) return new Map(plausiblePids.map((pid) => [pid, readProc(pid)]));
  const states = parsePsOutput(await runPs(plausiblePids));
  return new Map(plausiblePids.map((pid) => [pid, states.get(pid) ?? probeProcess(pid)]));
};

function hasProc(): boolean {
  try {
    return parseProcStat(readFileSync('/proc/self/stat', 'utf8')).is === 'running';
  } catch {
    return false; // not Linux, or `/proc` is not mounted
  }
}

function readProc(pid: number): ProcessState {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return probeProcess(pid); // it ended, or other users' processes are hidden from us
  }
}

/** Whether a process with this number exists, where the system does not tell when it started. */
function probeProcess(pid: number): ProcessState {
  try {
    process.kill(pid, 0);
    return { is: 'unknown' };
  } catch (error) {
    const hasEnded = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    return { is: hasEnded ? 'gone' : 'unknown' };
  }
}

/**
 * Runs `ps` with our time zone and language, which are also those of the process that wrote a key. Returns '' when `ps` is
 * missing.
 */
function runPs(pids: readonly number[]): Promise<string> {
  return new Promise((resolve) => {
    const args = ['-o', 'pid=,lstart=', '-p', pids.join(',')];
    execFile('ps', args, { encoding: 'utf8', timeout: PS_MS }, (_, stdout) => resolve(stdout));
  });
}
