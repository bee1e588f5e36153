import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** More processes than there are between Codex and a command that it runs. */
const MOST = 12;
const WITHIN_MS = 1000;

interface ParentProcess {
  readonly parent: number;
  readonly args: readonly string[];
}

/**
 * Whether a server of Codex started this process. Such a server runs the hooks and commands of every thread with the
 * environment of whoever started the server first. The answer is true where the system does not tell.
 */
export function isInCodexServer(): boolean {
  try {
    const findAbove = process.platform === 'linux' ? readLinuxProcess : listProcesses();
    for (let pid = process.ppid, n = 0; pid > 1 && n < MOST; n += 1) {
      const above = findAbove(pid);
      if (above === null) return false; // it ended, and the process that adopts its children is not our parent
      if (above.args.slice(1).includes('app-server')) return true;
      pid = above.parent;
    }
    return false;
  } catch {
    return true; // the system does not tell, so the environment is not trusted
  }
}

function readLinuxProcess(pid: number): ParentProcess | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]); // proc_pid_stat(5): after the name in parentheses
    return { parent, args: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') };
  } catch {
    return null; // it ended
  }
}

/** @throws Error where `ps` does not tell, as on Windows */
function listProcesses(): (pid: number) => ParentProcess | null {
  const listed = execFileSync('/bin/ps', ['-A', '-o', 'pid=,ppid=,args='], {
    encoding: 'utf8',
    timeout: WITHIN_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const processes = new Map<number, ParentProcess>();
  for (const line of listed.split('\n')) {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid !== undefined) processes.set(Number(pid), { parent: Number(parent), args: args.split(' ') });
  }
  return (pid) => processes.get(pid) ?? null;
}

type CommandEnv = Readonly<Record<string, string | undefined>>;

/** Variables that say which agent runs and where. In a process that serves many agents they describe only the first. */
const AGENT_VARIABLES = [
  'HIVEBAR_PERSONA',
  'HIVEBAR_SESSION',
  'TMUX',
  'TMUX_PANE',
  'TERM_SESSION_ID',
  'WT_SESSION',
] as const;

/** Removes the variables that describe another agent, when a server of Codex started this process. */
export function removeForeign(env: CommandEnv, isInServer: () => boolean): CommandEnv {
  if (AGENT_VARIABLES.every((name) => env[name] === undefined) || !isInServer()) return env;
  const own = { ...env };
  for (const name of AGENT_VARIABLES) delete own[name];
  return own;
}

/** Returns the environment of a command. Codex sets the thread for each command that it runs. */
export function toCommandEnv(env: CommandEnv, isInServer: () => boolean): CommandEnv {
  return findThread(env) === null ? env : removeForeign(env, isInServer);
}

/** Returns the Codex thread in which this command runs; null when there is none. */
export function findThread({ CODEX_THREAD_ID }: CommandEnv): string | null {
  return CODEX_THREAD_ID || null;
}
