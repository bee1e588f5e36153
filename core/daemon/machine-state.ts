import type { Doorbell, ErrorClass, Fsm, RingAnswer, Transition, TurnBoundary } from '../link/index.ts';
import type { Instant } from '../model/index.ts';

/**
 * All that the machine of the persona daemon knows (contract 3 and 4). Plain data: it survives a round trip through JSON,
 * and a process that lost it begins with `createMachineState` and pays a peek. Spans are measured in milliseconds of a clock that
 * never goes back (`mono`), what people read is wall time (`at`).
 */
export interface MachineState {
  readonly fsm: Fsm;
  readonly startedAt: Instant;
  readonly startedMono: number;
  /** When anything was last told here: a sleep of the computer is known by it. */
  readonly lastInput: { readonly at: Instant; readonly mono: number };
  readonly link: StreamLink;
  /** Connections opened since the ladder began anew. */
  readonly attempts: number;
  /** The last number given away, for connections, peeks and rings alike. */
  readonly lastId: number;
  readonly peek: Peek;
  /** What is known of the queue; null: nothing. A cache: whoever loses it pays a peek. */
  readonly index: Index | null;
  /** Rung and not yet drained. It outlives a connection. */
  readonly outstanding: OutstandingRing | null;
  /** The doorbell that the surface was handed and did not yet take. */
  readonly ring: Ring | null;
  /** Boundaries that a doorbell was spent on, the newest last. */
  readonly used: readonly { readonly id: string; readonly mono: number }[];
  readonly turn: AgentTurn;
  /** When the agent last did anything; null: not since the start. */
  readonly activeMono: number | null;
  readonly heartbeat: HeartbeatState;
  /** When the surface last drained; null: not since the start. */
  readonly drained: { readonly at: Instant; readonly mono: number } | null;
  readonly errors: ErrorCounts;
  readonly lastError: ErrorClass | null;
  /** The last 64, the newest last. */
  readonly transitions: readonly Transition[];
  readonly stopping: StopState | null;
}

/** The stream. `conn` tells one connection from another: what an old one still says is not heard. */
export type StreamLink =
  /** Between two connections. `auth`: the token was refused, so it is tried seldom. */
  | { readonly is: 'down'; readonly dueMono: number; readonly auth: boolean }
  /** Opened, not yet welcome. */
  | { readonly is: 'opening'; readonly conn: number; readonly sinceMono: number; readonly auth: boolean }
  | {
      readonly is: 'up';
      readonly conn: number;
      readonly registration: string;
      readonly heartbeatMs: number;
      readonly since: Instant;
      /** The last frame or ping. */
      readonly heardMono: number;
      /** The highest revision this registration was told. */
      readonly rev: number;
      /** The last one its stream told: a peek may be ahead of frames that are still on their way. */
      readonly streamRev: number;
      /** When this connection was reconciled; null: not yet. */
      readonly reconciledMono: number | null;
    };

export type Peek =
  | { readonly is: 'none' }
  | {
      readonly is: 'asked';
      readonly id: number;
      readonly sinceMono: number;
      /** The revision that was known when it was asked: an answer below it went back. */
      readonly floor: number;
      /** Something changed meanwhile. */
      readonly again: boolean;
      /** It follows one that was overtaken, so that the wait to be reconciled has an end however often something changes. */
      readonly second: boolean;
      readonly failures: number;
    }
  /** The last one failed. */
  | { readonly is: 'waiting'; readonly dueMono: number; readonly failures: number };

/**
 * `fresh`: the upstream's own count. `guess`: something changed since, and a peek is under way. `unknown`: of a connection
 * that is over; to be shown, and nothing else.
 */
export interface Index {
  readonly is: 'fresh' | 'guess' | 'unknown';
  readonly rev: number;
  readonly count: number;
  /** When the oldest that waits came, by the clock of the upstream; null: not known, or nothing waits. */
  readonly oldest: Instant | null;
}

export interface OutstandingRing {
  readonly rev: number;
  readonly ring: number;
  readonly mono: number;
  readonly at: Instant;
  /** The oldest of what was rung for, as in the index. A later one shows that a drain happened of which no word came. */
  readonly oldest: Instant | null;
}

export interface Ring {
  readonly id: number;
  /** Who asked, and is told how it went; null: nobody, the agent is woken. */
  readonly ask: number | null;
  readonly sinceMono: number;
  /** Where the agent is if nothing rang after all, and it did nothing meanwhile. */
  readonly turn: AgentTurn;
}

/** Where the agent is between its turns, as it was last told, and `at` when (by the wall clock). */
export type AgentTurn = { readonly at: Instant } & (
  | { readonly is: 'unknown' }
  /** `ring`: the doorbell it goes on for after it would have ended; null: a prompt began it, or the agent did something. */
  | { readonly is: 'open'; readonly ring: number | null }
  /** After a Stop with no prompt, the boundary of that name. `woken`: its one ring through the wake path is spent. */
  | { readonly is: 'rest'; readonly turnBoundaryId: string; readonly woken: boolean }
);

export interface HeartbeatState {
  readonly seq: number;
  readonly dueMono: number;
  /** When the stream last took one; null: never. */
  readonly sentMono: number | null;
  /** Since when one is on its way that the stream did not take; null: none is. */
  readonly stuckMono: number | null;
}

/** How often, and when last (null: never), for each of the ten classes. */
export type ErrorCounts = Readonly<Record<ErrorClass, { readonly count: number; readonly at: Instant | null }>>;

export interface StopState {
  readonly reason: string;
  readonly exit: 0 | 78;
}

/** What the machine obeys, fixed for its life. */
export interface DaemonRules {
  readonly tenant: string;
  readonly identity: string;
  /** Whether an agent at rest is woken (contract 4, opt-in). */
  readonly wakeIdle: boolean;
}

/** When it is. `draw` in [0, 1) is the only chance there is. */
export interface Now {
  readonly at: Instant;
  readonly mono: number;
  readonly draw: number;
}

/** What happens to a daemon. Time comes in with it, and passes before it is looked at. */
export type DaemonInput = Now & Happening;

export type Happening =
  /** Time passed: at `dueMono(state)` at the latest. */
  | { readonly is: 'tick' }
  /** The upstream's `welcome`. The names are null where it says none. */
  | {
      readonly is: 'welcome';
      readonly conn: number;
      readonly registration: string;
      readonly heartbeatMs: number;
      readonly rev: number;
      readonly tenant: string | null;
      readonly identity: string | null;
    }
  /** A ping, or a frame that means nothing here. The other frames count as heard too. */
  | { readonly is: 'heard'; readonly conn: number }
  | { readonly is: 'pending_changed'; readonly conn: number; readonly rev: number }
  | { readonly is: 'drained'; readonly conn: number; readonly rev: number; readonly remaining: number }
  | { readonly is: 'lifecycle'; readonly conn: number; readonly verb: 'wrap' | 'archive' | 'destroy' }
  /** A frame that was too large or no JSON. */
  | { readonly is: 'garbled'; readonly conn: number }
  /**
   * The stream ended, or never began. `code`: of the close frame, or `toCloseCode` of the HTTP status that refused it;
   * null: none came. `retryAfterMs`: what a 4429 asked for.
   */
  | { readonly is: 'closed'; readonly conn: number; readonly code: number | null; readonly retryAfterMs: number | null }
  | {
      readonly is: 'peeked';
      readonly peek: number;
      readonly rev: number;
      readonly count: number;
      /** When the oldest that waits came, by the clock of the upstream; null: not said, or nothing waits. */
      readonly oldest: Instant | null;
    }
  /** Status, shape, or no connection. The limit of 10 s the machine keeps itself. */
  | { readonly is: 'peek_failed'; readonly peek: number }
  /** The stream took the heartbeat of this number. */
  | { readonly is: 'heartbeat_sent'; readonly conn: number; readonly seq: number }
  | { readonly is: 'heartbeat_failed'; readonly conn: number }
  /** `notify_surface`. Without a boundary: an operator's. `ask` comes back in exactly one `answer`. */
  | { readonly is: 'notify'; readonly ask: number; readonly turnBoundary: TurnBoundary | null }
  /**
   * The hook noted that the agent did something, and asked nobody. `touched`: when, by the wall clock (the time of the
   * file). `moment`: what its harness calls it; null: not known.
   */
  | { readonly is: 'activity'; readonly touched: Instant; readonly moment: string | null }
  /** The surface took the doorbell. */
  | { readonly is: 'accepted'; readonly ring: number }
  | { readonly is: 'rejected'; readonly ring: number }
  /** Something failed beside the machine (plugin, shim, control socket): it is counted here. */
  | { readonly is: 'failed'; readonly error: ErrorClass }
  | { readonly is: 'shutdown'; readonly reason: string; readonly deadlineMs: number };

/** What the shell has to do, in this order. */
export type DaemonEffect =
  /** Open the stream and say hello. */
  | { readonly is: 'open'; readonly conn: number }
  /** End this connection at once; nothing it says is heard any more. */
  | { readonly is: 'terminate'; readonly conn: number }
  | { readonly is: 'peek'; readonly peek: number }
  /** Nobody waits for this peek any more. */
  | { readonly is: 'drop_peek'; readonly peek: number }
  | { readonly is: 'heartbeat'; readonly conn: number; readonly seq: number }
  /**
   * Hand the surface this doorbell, and tell `accepted` or `rejected`. `way`: through the hook that waits for the answer
   * to `ask`, or through the plugin's wake path.
   */
  | {
      readonly is: 'ring';
      readonly ring: number;
      readonly way: 'boundary' | 'wake';
      readonly ask: number | null;
      readonly doorbell: Doorbell;
    }
  /** A plugin that answered the asker itself already has nothing to do here. */
  | { readonly is: 'answer'; readonly ask: number; readonly answer: RingAnswer }
  /** For the log; the raw text of a failure is the shell's to add. */
  | { readonly is: 'error'; readonly error: ErrorClass; readonly why: string }
  | { readonly is: 'moved'; readonly transition: Transition }
  /** Say bye with this reason, stop the shim, close, and exit inside the deadline. */
  | { readonly is: 'stop'; readonly exit: 0 | 78; readonly reason: string; readonly deadlineMs: number };

export interface DaemonOutput {
  readonly state: MachineState;
  readonly effects: readonly DaemonEffect[];
}
