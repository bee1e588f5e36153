/**
 * What is known of a process. A number is used again after a process ended, so number and start key name it; a key of
 * another family (`linux:` and `ps:`) says nothing about one.
 */
export type ProcessState =
  | { readonly is: 'running'; readonly startKey: string }
  | { readonly is: 'gone' }
  | { readonly is: 'unknown' };

/** Asks the system about these processes, all at once. */
export type ProcessReader = (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessState>>;

/** What a marker's owner is: `implausible` is a number no session can have (garden contract 5). */
export type OwnerState = 'live' | 'dead' | 'uncertain' | 'implausible';

const LARGEST_PID = 2 ** 31 - 1;

/** Process 1 adopts orphans and owns nothing. */
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

const STATE = 0; // of the fields behind the command: field 3
const START_TIME = 19; // field 22, in ticks since boot

/**
 * The line of `/proc/<pid>/stat`. The command in it may hold spaces and `)`, so fields are counted behind the last one.
 * One that ended and was not waited for is gone.
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

/** The lines of `ps -o pid=,lstart=`. */
export function parsePsOutput(stdout: string): ReadonlyMap<number, ProcessState> {
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const match = /^\s*(\d+)\s+(\S.*?)\s*$/.exec(line);
      return match === null ? [] : [[Number(match[1]), { is: 'running', startKey: `ps:${match[2]}` }] as const];
    }),
  );
}
