/** The waits before a shim is started again; the last one stays (persona daemon, contract 5). */
export const LADDER_MS = [1000, 2000, 4000, 8000, 16_000, 30_000] as const;
/** A shim that lived so long begins at the foot of the ladder. */
export const SOUND_AFTER_MS = 60_000;
const WINDOW_MS = 10 * 60_000;
const MOST_FAILURES = 8;
export const RETRY_MS = 5 * 60_000;
/** Failed probes in a row after which a shim that runs is ended and started again. */
const MOST_UNANSWERED = 2;
const JITTER = 0.2;

/** What is known of a shim, survives a JSON round trip. Times are monotonic milliseconds. */
export interface Supervision {
  readonly state: 'none' | 'running' | 'backoff' | 'failed';
  /** Of the process that runs; null: none does. */
  readonly pid: number | null;
  readonly since: number;
  readonly restarts: number;
  /** Which rung of the ladder the next wait is. */
  readonly rung: number;
  /** When it failed, within the last ten minutes. */
  readonly failures: readonly number[];
  readonly unanswered: number;
  /** Failed too often; only a run that lasts takes it back. */
  readonly isGivenUp: boolean;
  readonly isStopped: boolean;
}

export const UNSUPERVISED: Supervision = {
  state: 'none',
  pid: null,
  since: 0,
  restarts: 0,
  rung: 0,
  failures: [],
  unanswered: 0,
  isGivenUp: false,
  isStopped: false,
};

/** `chance` is a number from 0 to 1, for the jitter. */
export type ShimInput = { readonly at: number } & (
  | { readonly is: 'started'; readonly pid: number }
  /** It ended, or could not be started. */
  | { readonly is: 'ended'; readonly chance: number }
  | { readonly is: 'probed'; readonly answered: boolean }
  /** The wait that was asked for is over. */
  | { readonly is: 'waited' }
  /** The surface is back: no reason to wait on. */
  | { readonly is: 'resumed' }
  | { readonly is: 'stopped' }
);

/** What the shell is to do; `wait` replaces a wait before, `start` and `end` end it. */
export type ShimOrder = { readonly is: 'start' | 'end' } | { readonly is: 'wait'; readonly ms: number } | null;

export interface ShimStep {
  readonly next: Supervision;
  readonly order: ShimOrder;
}

/** One step of the supervision of a shim (persona daemon, contract 5): restarted for ever, but ever more slowly. */
export function superviseShim(state: Supervision, input: ShimInput): ShimStep {
  const stay: ShimStep = { next: state, order: null };
  if (state.isStopped) return stay;
  switch (input.is) {
    case 'started':
      return {
        next: { ...state, state: 'running', pid: input.pid, since: input.at, unanswered: 0 },
        order: null,
      };
    case 'ended':
      return onFailed(state, input.at, input.chance);
    case 'probed':
      return onProbed(state, input.answered);
    case 'waited':
    case 'resumed':
      return state.pid === null ? { next: countRestart(state), order: { is: 'start' } } : stay;
    case 'stopped':
      return { next: { ...state, state: 'none', pid: null, isStopped: true }, order: { is: 'end' } };
  }
}

/** The first start is no restart. */
function countRestart(state: Supervision): Supervision {
  return state.state === 'none' ? state : { ...state, restarts: state.restarts + 1 };
}

function onFailed(state: Supervision, at: number, chance: number): ShimStep {
  const wasSound = state.pid !== null && at - state.since >= SOUND_AFTER_MS;
  const failures = [...state.failures.filter((failedAt) => at - failedAt < WINDOW_MS), at];
  const isGivenUp = (state.isGivenUp && !wasSound) || failures.length >= MOST_FAILURES;
  const rung = wasSound ? 0 : state.rung;
  const ms = isGivenUp ? RETRY_MS : addJitter(LADDER_MS[Math.min(rung, LADDER_MS.length - 1)] ?? RETRY_MS, chance);
  return {
    next: {
      ...state,
      state: isGivenUp ? 'failed' : 'backoff',
      pid: null,
      since: at,
      rung: rung + 1,
      failures,
      unanswered: 0,
      isGivenUp,
    },
    order: { is: 'wait', ms },
  };
}

function addJitter(ms: number, chance: number): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * chance));
}

function onProbed(state: Supervision, answered: boolean): ShimStep {
  if (state.pid === null) return { next: state, order: null };
  const unanswered = answered ? 0 : state.unanswered + 1;
  const isOver = unanswered >= MOST_UNANSWERED;
  return { next: { ...state, unanswered: isOver ? 0 : unanswered }, order: isOver ? { is: 'end' } : null };
}
