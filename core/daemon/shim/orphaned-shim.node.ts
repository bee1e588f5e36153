import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { realFiles } from '../../ports/index.ts';
import { readText } from '../../state/index.ts';

const PRIVATE = 0o600;

/** Notes which shim runs, so that a daemon after a kill finds it; null: none does. A file that cannot be written is no harm. */
export function writeShimPid(path: string, pid: number | null): void {
  try {
    if (pid === null) unlinkSync(path);
    else writeFileSync(path, `${pid} ${readStartTime(pid) ?? ''}\n`, { mode: PRIVATE });
  } catch {
    // not there, or no room: then a shim that ignores the end of its stdin outlives a kill of its daemon
  }
}

/**
 * Ends the shim of a daemon that was killed, with its group: one that did not end with its stdin would be beside the next one.
 * Only the very process that was noted, which Linux alone lets us know of. True: it was there.
 */
export function endOrphanedShim(path: string): boolean {
  try {
    const [, pid, start] = /^(\d+) (\d+)\n$/.exec(readText(realFiles, path, 64) ?? '') ?? [];
    // A group of the number 1 would be everybody.
    if (pid === undefined || Number(pid) <= 1 || start !== readStartTime(Number(pid))) return false;
    process.kill(-Number(pid), 'SIGKILL');
    return true;
  } catch {
    return false; // nothing was noted, or it is gone
  }
}

/** When a process was started, in ticks since the start of the machine: no two processes of a number have it in common. */
function readStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null; // it is gone, or the system has no such folder
  }
}
