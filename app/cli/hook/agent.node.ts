import { readFileSync } from 'node:fs';

/** What stands between an agent program and its hook. */
const BETWEEN: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'fish', 'busybox', 'env']);
const MOST = 6;

/**
 * The process that is the session: the one that runs the hook, behind the shells that harnesses start for it. Where the
 * system does not say whose child a process is (not Linux), the direct parent.
 */
export function findAgentProcess(): number {
  let pid = process.ppid;
  if (process.platform !== 'linux') return pid;
  for (let n = 0; n < MOST; n += 1) {
    const candidate = readProcess(pid);
    if (candidate === null || !BETWEEN.has(candidate.name) || candidate.parent <= 1) return pid;
    pid = candidate.parent;
  }
  return pid;
}

function readProcess(pid: number): { readonly name: string; readonly parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the name, second, stands in parentheses and may hold both blanks and parentheses.
    const end = stat.lastIndexOf(')');
    return { name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(stat.slice(end + 2).split(' ')[1]) };
  } catch {
    return null; // gone, or no /proc: nothing more is known
  }
}
