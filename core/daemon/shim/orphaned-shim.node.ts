import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { realFiles } from '../../ports/index.ts';
import { readText } from '../../state/index.ts';

const PRIVATE = 0o600;

/**
 * Notes which shim runs, so that the next daemon finds it if this one is killed; null: none runs. A failed write does no harm.
 */
export function writeShimPid(path: string, pid: number | null): void {
  try {
    if (pid === null) unlinkSync(path);
    else writeFileSync(path, `${pid} ${readStartTime(pid) ?? ''}\n`, { mode: PRIVATE });
  } catch {
    // The file is missing, or the disk is full. Then a shim that ignores the end of its stdin outlives a kill of its daemon.
  }
}

/**
 * Ends the shim of a daemon that was killed, with its process group. A shim that did not end with its stdin would run beside the
 * next one. Only the very process that was noted is ended, which can be checked on Linux only. True: it was running.
 */
export function endOrphanedShim(path: string): boolean {
  try {
    const [, pid, start] = /^(\d+) (\d+)\n$/.exec(readText(realFiles, path, 64) ?? '') ?? [];
    // A negative pid of 1 would signal every process.
    if (pid === undefined || Number(pid) <= 1 || start !== readStartTime(Number(pid))) return false;
    process.kill(-Number(pid), 'SIGKILL');
    return true;
  } catch {
    return false; // nothing was noted, or the shim is gone
  }
}

/** The start time of a process, in ticks since boot. Two processes with the same pid have different start times. */
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null; // the process is gone, or the system has no such folder
  }
}
