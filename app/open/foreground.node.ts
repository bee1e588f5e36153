import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

const WITHIN_MS = 2000;

/** Returns whether this process is in the terminal's foreground group, and so reads what is typed there. False when not known. */
export function isInFront(pid: number, tty: string, platform: NodeJS.Platform): boolean {
  try {
    return platform === 'linux' ? isInLinuxFront(pid, tty) : isInListedFront(pid, tty);
  } catch {
    return false; // it ended, or the system does not report it
  }
}

function isInLinuxFront(pid: number, tty: string): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // proc_pid_stat(5), after the name in parentheses: state, ppid, pgrp, session, tty_nr, tpgid.
  const [, , group, , device, front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return group !== undefined && group === front && Number(device) === statSync(tty).rdev;
}

function isInListedFront(pid: number, tty: string): boolean {
  const listing = execFileSync('/bin/ps', ['-o', 'pgid=,tpgid=,tty=', '-p', `${pid}`], {
    encoding: 'utf8',
    timeout: WITHIN_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [group, front, name] = listing.trim().split(/\s+/);
  return group !== undefined && group === front && `/dev/${name}` === tty;
}
