import { readFileSync } from 'node:fs';

/** A process by its pid. The start key tells it from a later one; null where the system has none. */
export type ProcessSign =
  | { readonly is: 'running'; readonly startKey: string | null; readonly parent: number | null }
  | { readonly is: 'gone' };

export type ReadProcess = (pid: number) => ProcessSign;

/** Reads a process from `/proc`. Without it, only whether the pid is in use is known. */
export const readProcess: ReadProcess = (pid) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the second field is the name in parentheses, which may contain both blanks and parentheses.
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent] = afterName;
    const startKey = afterName[22 - 3];
    if (state === 'Z' || state === 'X' || startKey === undefined) return { is: 'gone' };
    return { is: 'running', startKey, parent: Number(parent) };
  } catch {
    return probe(pid); // it ended, other users' processes are hidden, or this system has no /proc
  }
};

function probe(pid: number): ProcessSign {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user exists all the same.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return { is: 'gone' };
  }
  return { is: 'running', startKey: null, parent: null };
}

/** The environment of a process of this user, by name; empty where it cannot be read. */
export function readEnvironment(pid: number): ReadonlyMap<string, string> {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return new Map(
      pairs.flatMap((pair): [string, string][] => {
        const at = pair.indexOf('=');
        return at < 1 ? [] : [[pair.slice(0, at), pair.slice(at + 1)]];
      }),
    );
  } catch {
    return new Map(); // it ended, is not ours, or this system has no such list
  }
}
