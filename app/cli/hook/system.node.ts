import { readFileSync, statSync } from 'node:fs';
import type { SessionRunner } from '../../../core/hooks/index.ts';
import { readStartKey } from '../../open/index.ts';
import { findHome, findLock } from '../session-surroundings.node.ts';

/** Returns when a file was changed, in milliseconds since the epoch; 0 when it does not exist. */
export function readChangedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Whether the path exists. A path that we may not read counts as existing: the code that uses it reports the problem. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // we may not read it
  }
}

/** Returns the size of a file in bytes; 0 when it does not exist or cannot be read. */
export function readSize(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // a path of the harness that does not exist here
  }
}

/** Programs that can run between an agent program and its hook. */
const BETWEEN: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'fish', 'busybox', 'env']);
const MOST = 6;

/**
 * Finds the process of the session: the one that runs the hook, behind the shells that harnesses start for it. Where the system
 * does not tell the parents of a process (anywhere but Linux), it is the direct parent.
 */
function findAgentProcess(): number {
  let pid = process.ppid;
  if (process.platform !== 'linux') return pid;
  for (let n = 0; n < MOST; n += 1) {
    const candidate = readProcess(pid);
    if (candidate === null || !BETWEEN.has(candidate.name) || candidate.parent <= 1) return pid;
    pid = candidate.parent;
  }
  return pid;
}

/** Finds the process of a session, and what tells whether the session still runs. */
export function findRunner(
  harness: string,
  session: string,
  env: Readonly<Record<string, string | undefined>>,
): SessionRunner {
  const pid = findAgentProcess();
  const home = harness === 'codex' ? findHome(harness, env) : null;
  return { pid, startKey: readStartKey(pid, process.platform), lock: home === null ? null : findLock(home, session) };
}

function readProcess(pid: number): { readonly name: string; readonly parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the name is the second field. It is in parentheses and may contain blanks and parentheses.
    const end = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(stat.slice(end + 2).split(' ')[1]) };
  } catch {
    return null; // the process has ended, or there is no /proc
  }
}
