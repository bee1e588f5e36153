import type { Doorbell, ErrorClass, Fsm, RingAnswer, Transition, TurnBoundary } from '../link/index.ts';
import type { Instant } from '../model/index.ts';

/**
 * The whole state of the persona daemon's machine (contract 3 and 4). It is plain data and survives a round trip through JSON. A
 * process that lost it starts with `createMachineState` and needs one peek. Durations are milliseconds of a clock that never goes
 * back (`mono`); times for people are wall time (`at`).
 */
export interface MachineState {
  readonly fsm: Fsm;
  readonly startedAt: Instant;
  readonly startedMono: number;
  /** The time of the last input: a long gap shows that the computer slept. */
  readonly lastInput: { readonly at: Instant; readonly mono: number };
  readonly link: StreamLink;
  /** Connections opened since the backoff was last reset. */
  readonly attempts: number;
  /** The last number assigned, shared by connections, peeks and rings. */
  readonly lastId: number;
  readonly peek: Peek;
  /** What is known of the queue; null: nothing. This is a cache: losing it costs one peek. */
  readonly index: Index | null;
  /** What was rung for and is not drained yet. It outlives a connection. */
  readonly outstanding: OutstandingRing | null;
  /** The doorbell that was given to the surface and is not accepted yet. */
  readonly ring: Ring | null;
  /** Turn boundaries that a doorbell was spent on, newest last. */
  readonly used: readonly { readonly id: string; readonly mono: number }[];
  readonly turn: AgentTurn;
  /** When the agent last did something; null: not since the start. */
  readonly activeMono: number | null;
  readonly heartbeat: HeartbeatState;
  /** When the surface last drained; null: not since the start. */
  readonly drained: { readonly at: Instant; readonly mono: number } | null;
  readonly errors: ErrorCounts;
  readonly lastError: ErrorClass | null;
  /** The last 64 transitions, newest last. */
  readonly transitions: readonly Transition[];
  readonly stopping: StopState | null;
}

/** The stream. `conn` tells connections apart: messages of an old connection are ignored. */
export type StreamLink =
  /** Between two connections. `auth`: the token was refused, so attempts are rare. */
  | { readonly is: 'down'; readonly dueMono: number; readonly auth: boolean }
  /** Opened, but not welcomed yet. */
  | { readonly is: 'opening'; readonly conn: number; readonly sinceMono: number; readonly auth: boolean }
  | {
      readonly is: 'up';
      readonly conn: number;
      readonly registration: string;
      readonly heartbeatMs: number;
      readonly since: Instant;
      /** When the last frame or ping arrived. */
      readonly heardMono: number;
      /** The highest revision that this registration has received. */
      readonly rev: number;
      /** The last revision from the stream. A peek may be ahead of frames that are still on their way. */
      readonly streamRev: number;
      /** When this connection was reconciled; null: not yet. */
      readonly reconciledMono: number | null;
    };

type Peek =
  | { readonly is: 'none' }
  | {
      readonly is: 'asked';
      readonly id: number;
      readonly sinceMono: number;
      /** The revision known when the peek started. An answer with a lower revision went back. */
      readonly floor: number;
      /** Something changed since the peek started. */
      readonly again: boolean;
      /**
       * This peek follows one that was overtaken by a change. It bounds the wait to be reconciled, however often something
       * changes.
       */
      readonly second: boolean;
      readonly failures: number;
    }
  /** The last peek failed. */
  | { readonly is: 'waiting'; readonly dueMono: number; readonly failures: number };

/**
 * `fresh`: the upstream's own count. `guess`: something changed since, and a peek is under way. `unknown`: the count of a
 * connection that has ended; it is only for display.
 */
export interface Index {
  readonly is: 'fresh' | 'guess' | 'unknown';
  readonly rev: number;
  readonly count: number;
  /** When the oldest waiting item came, by the clock of the upstream; null: not known, or nothing waits. */
  readonly oldest: Instant | null;
}

export interface OutstandingRing {
  readonly rev: number;
  readonly ring: number;
  readonly mono: number;
  readonly at: Instant;
  /**
   * The time of the oldest item that was rung for, as in the index. A later oldest item shows a drain that was never reported.
   */
  readonly oldest: Instant | null;
}

interface Ring {
  readonly id: number;
  /** The number of the ask that gets the result; null: nobody asked, the agent is woken. */
  readonly ask: number | null;
  readonly sinceMono: number;
  /** The agent's turn if the ring fails and the agent did nothing meanwhile. */
  readonly turn: AgentTurn;
}

/** Where the agent is between its turns, as last reported, and `at` when (wall clock). */
export type AgentTurn = { readonly at: Instant } & (
  | { readonly is: 'unknown' }
  /**
   * `ring`: the doorbell that let the turn go on when it would have ended; null: a prompt began the turn, or the agent did
   * something.
   */
  | { readonly is: 'open'; readonly ring: number | null }
  /** After a Stop with no prompt since, at the boundary of that name. `woken`: its one ring through the wake path is spent. */
  | { readonly is: 'rest'; readonly turnBoundaryId: string; readonly woken: boolean }
);

interface HeartbeatState {
  readonly seq: number;
  readonly dueMono: number;
  /** When the stream last took a heartbeat; null: never. */
  readonly sentMono: number | null;
  /** Since when a heartbeat waits that the stream did not take; null: none waits. */
  readonly stuckMono: number | null;
}

/** For each of the ten classes: how often it occurred, and when last (null: never). */
export type ErrorCounts = Readonly<Record<ErrorClass, { readonly count: number; readonly at: Instant | null }>>;

interface StopState {
  readonly reason: string;
  readonly exit: 0 | 78;
}

/** The rules of the machine, fixed for its life. */
export interface DaemonRules {
  readonly tenant: string;
  readonly identity: string;
  /** Whether an agent at rest is woken (contract 4, opt-in). */
  readonly wakeIdle: boolean;
}

/** The current time. `draw` in [0, 1) is the only source of chance. */
export interface Now {
  readonly at: Instant;
  readonly mono: number;
  readonly draw: number;
}

/** One input of the machine, with its time. What is due by that time runs before the input is handled. */
export type DaemonInput = Now & Happening;

export type Happening =
  /** Time passed. It comes at the time of `computeDueMono` at the latest. */
  | { readonly is: 'tick' }
  /** The upstream's `welcome`. The names are null if the upstream gives none. */
  | {
      readonly is: 'welcome';
      readonly conn: number;
      readonly registration: string;
      readonly heartbeatMs: number;
      readonly rev: number;
      readonly tenant: string | null;
      readonly identity: string | null;
    }
  /** A ping, or a frame without meaning here. All other frames count as heard too. */
  | { readonly is: 'heard'; readonly conn: number }
  | { readonly is: 'pending_changed'; readonly conn: number; readonly rev: number }
  | { readonly is: 'drained'; readonly conn: number; readonly rev: number; readonly remaining: number }
  | { readonly is: 'lifecycle'; readonly conn: number; readonly verb: 'wrap' | 'archive' | 'destroy' }
  /** A frame that was too large or not JSON. */
  | { readonly is: 'garbled'; readonly conn: number }
  /**
   * The stream ended, or never began. `code`: of the close frame, or `toCloseCode` of the HTTP status that refused it; null: none
   * came. `retryAfterMs`: the wait that a 4429 asked for.
   */
  | { readonly is: 'closed'; readonly conn: number; readonly code: number | null; readonly retryAfterMs: number | null }
  | {
      readonly is: 'peeked';
      readonly peek: number;
      readonly rev: number;
      readonly count: number;
      /** When the oldest waiting item came, by the clock of the upstream; null: not given, or nothing waits. */
      readonly oldest: Instant | null;
    }
  /** Wrong status or shape, or no connection. The machine itself enforces the limit of 10 s. */
  | { readonly is: 'peek_failed'; readonly peek: number }
  /** The stream took the heartbeat with this number. */
  | { readonly is: 'heartbeat_sent'; readonly conn: number; readonly seq: number }
  | { readonly is: 'heartbeat_failed'; readonly conn: number }
  /** `notify_surface`. Without a boundary an operator asks. Each `ask` gets exactly one `answer`. */
  | { readonly is: 'notify'; readonly ask: number; readonly turnBoundary: TurnBoundary | null }
  /**
   * The hook noted that the agent did something, and did not ask the daemon. `touched`: when, by the wall clock (the time of the
   * file). `moment`: the harness's name for the moment; null: not known.
   */
  | { readonly is: 'activity'; readonly touched: Instant; readonly moment: string | null }
  /** The surface accepted the doorbell. */
  | { readonly is: 'accepted'; readonly ring: number }
  | { readonly is: 'rejected'; readonly ring: number }
  /** Something failed outside the machine (plugin, shim, control socket); the machine counts it. */
  | { readonly is: 'failed'; readonly error: ErrorClass }
  | { readonly is: 'shutdown'; readonly reason: string; readonly deadlineMs: number };

/** What the shell must do, in this order. */
export type DaemonEffect =
  /** Open the stream and say hello. */
  | { readonly is: 'open'; readonly conn: number }
  /** End this connection at once; ignore what it still sends. */
  | { readonly is: 'terminate'; readonly conn: number }
  | { readonly is: 'peek'; readonly peek: number }
  /** The result of this peek is not needed any more. */
  | { readonly is: 'drop_peek'; readonly peek: number }
  | { readonly is: 'heartbeat'; readonly conn: number; readonly seq: number }
  /**
   * Give the surface this doorbell, and report `accepted` or `rejected`. `way`: through the hook that waits for the answer to
   * `ask`, or through the plugin's wake path.
   */
  | {
      readonly is: 'ring';
      readonly ring: number;
      readonly way: 'boundary' | 'wake';
      readonly ask: number | null;
      readonly doorbell: Doorbell;
    }
  /** Answer the asker. Does nothing if a plugin has answered already. */
  | { readonly is: 'answer'; readonly ask: number; readonly answer: RingAnswer }
  /** For the log; the shell adds the raw text of the failure. */
  | { readonly is: 'error'; readonly error: ErrorClass; readonly why: string }
  | { readonly is: 'moved'; readonly transition: Transition }
  /** Say bye with this reason, stop the shim, close, and exit within the deadline. */
  | { readonly is: 'stop'; readonly exit: 0 | 78; readonly reason: string; readonly deadlineMs: number };

export interface DaemonOutput {
  readonly state: MachineState;
  readonly effects: readonly DaemonEffect[];
}

/** Waits between two connections: 1 s, doubled, at most 60 s (persona daemon, contract 3). */
const FIRST_MS = 1_000;
const HIGHEST_MS = 60_000;
const JITTER = 0.2;
const HIGHEST_PEEK_MS = 30_000;
/** The longest wait that an upstream can ask for. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

const AUTH_RETRY_MS = 300_000;
const SECOND_DAEMON_MS = 60_000;

/** Milliseconds before the next connection, after this many attempts in a row. `draw` in [0, 1) is the jitter. */
export function computeLadderMs(attempts: number, draw: number): number {
  return Math.round(computeRungMs(attempts - 1, HIGHEST_MS) * (1 - JITTER + 2 * JITTER * draw));
}

/** Milliseconds before the next peek, after this many failures in a row: 1, 2, 4 .. 30 s. */
export function computePeekRetryMs(failures: number): number {
  return computeRungMs(failures - 1, HIGHEST_PEEK_MS);
}

/** What to do after a close (persona daemon, contract 2). */
type AfterClose = { readonly is: 'again'; readonly ms: number } | { readonly is: 'stop'; readonly exit: 0 | 78 };

export const CLOSE = { auth: 4401, wrongPersona: 4403, second: 4409, gone: 4410, busy: 4429 } as const;

export function decideAfterClose(
  { code, retryAfterMs }: { readonly code: number | null; readonly retryAfterMs: number | null },
  attempts: number,
  draw: number,
): AfterClose {
  switch (code) {
    case CLOSE.auth:
      return { is: 'again', ms: AUTH_RETRY_MS };
    case CLOSE.second:
      return { is: 'again', ms: SECOND_DAEMON_MS };
    case CLOSE.wrongPersona:
      return { is: 'stop', exit: 78 };
    case CLOSE.gone:
      return { is: 'stop', exit: 0 };
    case CLOSE.busy:
      return {
        is: 'again',
        ms: retryAfterMs === null ? computeLadderMs(attempts, draw) : clampRetryAfter(retryAfterMs),
      };
    default:
      return { is: 'again', ms: computeLadderMs(attempts, draw) };
  }
}

/** The close code with the same meaning as an HTTP status on the upgrade; null: there is none. */
export function toCloseCode(status: number): number | null {
  const code = 4000 + status;
  return Object.values<number>(CLOSE).includes(code) ? code : null;
}

/** At least a second, so that an upstream that says 0 is not called in a loop. */
function clampRetryAfter(ms: number): number {
  return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(FIRST_MS, Number.isFinite(ms) ? ms : FIRST_MS));
}

function computeRungMs(step: number, highest: number): number {
  return Math.min(highest, FIRST_MS * 2 ** Math.min(16, Math.max(0, step)));
}
