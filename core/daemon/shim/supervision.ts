/** Waits before a shim is restarted, in milliseconds; the last one repeats (persona daemon, contract 5). */
export const LADDER_MS = [1000, 2000, 4000, 8000, 16_000, 30_000] as const;
/** A shim that lived this long starts again at the shortest wait. */
export const SOUND_AFTER_MS = 60_000;
const WINDOW_MS = 10 * 60_000;
const MOST_FAILURES = 8;
export const RETRY_MS = 5 * 60_000;
/** A running shim is ended and restarted after this many failed probes in a row. */
const MOST_UNANSWERED = 2;
const JITTER = 0.2;

/** What is known of a shim; it survives a JSON round trip. Times are monotonic milliseconds. */
export interface Supervision {
  readonly state: 'none' | 'running' | 'backoff' | 'failed';
  /** The id of the running process; null: none runs. */
  readonly pid: number | null;
  readonly since: number;
  readonly restarts: number;
  /** Which entry of `LADDER_MS` is the next wait. */
  readonly rung: number;
  /** Times of the failures within the last ten minutes. */
  readonly failures: readonly number[];
  readonly unanswered: number;
  /** The shim failed too often; only a run that lasts resets this. */
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
  /** The process ended, or could not be started. */
  | { readonly is: 'ended'; readonly chance: number }
  | { readonly is: 'probed'; readonly answered: boolean }
  /** The requested wait is over. */
  | { readonly is: 'waited' }
  /** The surface is back: there is no reason to wait longer. */
  | { readonly is: 'resumed' }
  | { readonly is: 'stopped' }
);

/** What the shell must do. `wait` replaces an earlier wait; `start` and `end` cancel it. */
export type ShimOrder = { readonly is: 'start' | 'end' } | { readonly is: 'wait'; readonly ms: number } | null;

export interface ShimStep {
  readonly next: Supervision;
  readonly order: ShimOrder;
}

/**
 * One step of the supervision of a shim (persona daemon, contract 5). It restarts the shim for ever, with longer and longer
 * waits.
 */
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

/** The first start does not count as a restart. */
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
