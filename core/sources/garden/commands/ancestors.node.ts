import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const MOST = 32;

/** Lists the processes above this one, the nearest first, as far as the system tells. */
export function listAncestors(): readonly number[] {
  const pids: number[] = [];
  for (let pid = process.ppid; pid > 1 && pids.length < MOST; pid = readParent(pid)) pids.push(pid);
  return pids;
}

/** 0: unknown. */
function readParent(pid: number): number {
  try {
    if (process.platform !== 'linux')
      return parseWholeNumber(execFileSync('ps', ['-o', 'ppid=', '-p', `${pid}`]).toString());
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // proc_pid_stat(5): the command is the second field. It is in parentheses and may contain blanks and parentheses.
    return parseWholeNumber(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '');
  } catch {
    return 0; // it has ended, or we may not read it
  }
}

function parseWholeNumber(text: string): number {
  const n = Number(text.trim());
  return Number.isSafeInteger(n) ? n : 0;
}
