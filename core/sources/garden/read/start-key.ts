/**
 * What is known about a process. The system reuses process numbers, so only number and start key together identify a process.
 * Keys of different families (`linux:` and `ps:`) cannot be compared.
 */
export type ProcessState =
  | { readonly is: 'running'; readonly startKey: string }
  | { readonly is: 'gone' }
  | { readonly is: 'unknown' };

/** Asks the system about all these processes at once. */
export type ProcessReader = (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessState>>;

/** The state of a marker's owner. `implausible`: no session can have this process number (garden contract 5). */
export type OwnerState = 'live' | 'dead' | 'uncertain' | 'implausible';

const LARGEST_PID = 2 ** 31 - 1;

/** Process 1 adopts orphans and owns no session. */
export function isPlausible(pid: number): boolean {
  return Number.isInteger(pid) && pid > 1 && pid <= LARGEST_PID;
}

export function judgeOwner(pid: number, startKey: string, state: ProcessState | undefined): OwnerState {
  if (!isPlausible(pid)) return 'implausible';
  switch (state?.is) {
    case 'running':
      if (toKeyFamily(state.startKey) !== toKeyFamily(startKey)) return 'uncertain';
      return state.startKey === startKey ? 'live' : 'dead';
    case 'gone':
      return 'dead';
    default:
      return 'uncertain';
  }
}

function toKeyFamily(key: string): string {
  return key.slice(0, key.indexOf(':') + 1);
}

const STATE = 0; // index among the fields behind the command: field 3
const START_TIME = 19; // field 22, in ticks since boot

/**
 * Parses the line of `/proc/<pid>/stat`. The command in it may hold spaces and `)`, so fields are counted from the last `)`. A
 * process that ended and was not waited for is gone.
 */
export function parseProcStat(line: string): ProcessState {
  const fields = line
    .slice(line.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const state = fields[STATE] ?? '';
  if (state === 'Z' || state === 'X') return { is: 'gone' };
  const started = fields[START_TIME] ?? '';
  return /^\d+$/.test(started) ? { is: 'running', startKey: `linux:${started}` } : { is: 'unknown' };
}

/** Parses the lines of `ps -o pid=,lstart=`. */
export function parsePsOutput(stdout: string): ReadonlyMap<number, ProcessState> {
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const match = /^\s*(\d+)\s+(\S.*?)\s*$/.exec(line);
      return match === null ? [] : [[Number(match[1]), { is: 'running', startKey: `ps:${match[2]}` }] as const];
    }),
  );
}
