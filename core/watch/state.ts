import type { Event } from '../events/index.ts';
import type { Instant, PersonaId, Reach } from '../model/index.ts';
import type { Mark } from '../sources/index.ts';

/** What a watch obeys, fixed for its life. */
export interface Rules {
  /** What events carry as `persona`; null for a single `--url` target. */
  readonly persona: PersonaId | null;
  /** The persona's name at its source: mail from it is its own. */
  readonly address: string;
  /** What events carry as `source`. */
  readonly source: string;
  /** 16 hex digits drawn once a process, for the ids of events that are not mail. */
  readonly run: string;
  readonly pollSeconds: number;
  /** Consecutive failures that make an outage, at least 1. */
  readonly alertAfter: number;
  /** More than this many messages on a re-arm are not replayed but counted (`replay_capped`). */
  readonly maxReplay: number;
  /** Milliseconds between heartbeats; null: none. */
  readonly heartbeatMs: number | null;
  /** Authors whose mail makes no event, as `foldedName` has them. */
  readonly suppressed: ReadonlySet<string>;
  /**
   * `at-most-once` (Kijito rev 6): the cursor moves over whatever was offered. `at-least-once`: it moves over what the
   * sink took, and the rest is offered again.
   */
  readonly delivery: 'at-most-once' | 'at-least-once';
}

/** What survives a restart (Kijito spec 7.3), beside the identity, which belongs to the file. */
export interface Saved {
  readonly cursor: number | null;
  /** The last edge the agent was told of. */
  readonly state: 'UP' | 'DOWN';
  readonly consecutive_failures: number;
}

/**
 * How a watch begins. `resume`: with what was saved, where a null cursor means baseline. `seed`: at an id the operator
 * gave. `baseline`: what is there now is old. `born`: the inbox began during this run, everything in it is new.
 * Saved reach is always taken over (Kijito spec 7.0).
 */
export type Start = { readonly is: 'resume' | 'baseline' | 'born' } | { readonly is: 'seed'; readonly id: number };

/** Said once, before any mail, when the watch has decided where it stands. */
export type Notice =
  | { readonly is: 'persona_added' | 'armed' }
  | { readonly is: 'seed_ahead'; readonly seeded: number; readonly currentMax: number }
  /** `from` is the cursor before: it stays the one to remember until somebody was told that mail is skipped. */
  | { readonly is: 'replay_capped'; readonly from: number; readonly cappedTo: number; readonly dropped: number };

/** What is with the sink right now, and what it means for the mark if it stops at the n-th event. */
export interface Offer {
  readonly events: readonly Event[];
  /** Per event: the row's id for mail, else null. */
  readonly ids: readonly (number | null)[];
  /** Where the mark stands when everything is taken. */
  readonly mark: Mark;
  /** The edge among the events, if any; always the first event. */
  readonly edge: 'UP' | 'DOWN' | null;
  /** How many notices follow the edge. */
  readonly notices: number;
  /** The last event is a heartbeat. */
  readonly beats: boolean;
  readonly at: Instant;
  /** The offer came from a full look: what it settles to is to be saved. */
  readonly save: boolean;
}

/** Everything a watch knows. Plain data: it survives a JSON round trip unchanged. */
export interface WatchState {
  readonly mark: Mark;
  /** How the first healthy look will decide the cursor; `armed` once it has (the event may still be among the notices). */
  readonly arming: 'baseline' | 'rearm' | 'born' | 'armed';
  readonly reach: Reach;
  readonly failures: number;
  /** The last edge the agent was told of. */
  readonly told: 'UP' | 'DOWN';
  readonly notices: readonly Notice[];
  /** Ids above the mark that the sink held already when it opened, ascending. */
  readonly held: readonly number[];
  /** When the last heartbeat that was told was made, or the watch opened. */
  readonly beatAt: Instant;
  /** The last N of `RUN-N`. */
  readonly count: number;
  readonly offer: Offer | null;
}

export function savedOf(state: WatchState): Saved {
  const capped = state.notices.find((notice) => notice.is === 'replay_capped');
  return {
    cursor: capped?.from ?? (state.mark.is === 'at' ? state.mark.id : null),
    state: state.told,
    consecutive_failures: state.failures,
  };
}

export function sameSaved(a: Saved, b: Saved): boolean {
  return a.cursor === b.cursor && a.state === b.state && a.consecutive_failures === b.consecutive_failures;
}
