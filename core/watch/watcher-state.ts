import { isDeepStrictEqual } from 'node:util';
import type { Event } from '../events/index.ts';
import {
  foldName,
  type Health,
  type Instant,
  type MailName,
  mergeSpans,
  type PersonaId,
  type Span,
} from '../model/index.ts';
import type { Checkpoint } from '../sources/index.ts';
import type { SavedBaseline, SavedWatcherState } from '../state/index.ts';
import type { SetMove } from './set-diff.ts';

/** What a watch obeys, fixed for its life. */
export interface WatcherRules {
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
  /** Authors whose mail makes no event, as `foldName` has them. */
  readonly suppressed: ReadonlySet<string>;
  /**
   * `at-most-once` (Kijito rev 6): the cursor moves over whatever was offered. `at-least-once`: it moves over what the
   * sink took, and the rest is offered again.
   */
  readonly delivery: 'at-most-once' | 'at-least-once';
  /** Which of the alarms an inbox can raise by itself are not wanted. Only at least once has any. */
  readonly silenced: ReadonlySet<Alarm>;
}

/** What an inbox shows beside mail and outages (Kijito contract b). */
export type Alarm = 'gap' | 'evidence-lost' | 'unread-not-shown';

export function isSuppressed(from: string | null, { suppressed }: WatcherRules): boolean {
  return from !== null && suppressed.size > 0 && suppressed.has(foldName(from));
}

/** What survives a restart (Kijito spec 7.3), beside the identity, which belongs to the file. */
export type SavedState = SavedWatcherState;

/**
 * How a watch begins. `resume`: with what was saved, where a null cursor means baseline. `seed`: at an id the operator
 * gave. `baseline`: what is there now is old, for `why`. `born`: the inbox began during this run, everything in it is new.
 * `corrupt`: what was saved cannot be read, so what is in sight is told again. Saved reach is always taken over (Kijito
 * spec 7.0).
 */
export type WatcherStart =
  | { readonly is: 'resume' | 'born' }
  | { readonly is: 'baseline'; readonly why?: string }
  | { readonly is: 'seed'; readonly id: number }
  | { readonly is: 'corrupt'; readonly why: string };

/** Said once, before any mail, when the watch has decided where it stands. */
export type Notice =
  | { readonly is: 'persona_added' | 'armed' }
  | { readonly is: 'seed_ahead'; readonly seeded: number; readonly currentMax: number }
  | { readonly is: 'state_corrupt'; readonly at: number; readonly why: string }
  | {
      readonly is: 'baseline_skipped';
      readonly at: number;
      readonly skipped: number;
      readonly range: readonly [number, number];
      readonly unread: number | null;
      readonly why: string;
    }
  | { readonly is: 'log_restarted'; readonly cursorAt: number; readonly max: number }
  /** `from` is the mark before: it stays the one to remember until somebody was told that mail is skipped. */
  | { readonly is: 'replay_capped'; readonly from: Checkpoint; readonly cappedTo: number; readonly dropped: number };

/** Which log the ids are of: those of an inbox may begin again, and then the same ids are other messages. */
export interface LogIdentity {
  /** Stands in the ids of its events; empty for the log that was there first. */
  readonly name: string;
  /** What is read up to this id was there when the log was first seen, and is no news. */
  readonly readTo: number;
}

export const FIRST_LOG: LogIdentity = { name: '', readTo: 0 };

/** What is with the sink right now, and what it means for the mark if it stops at the n-th event. */
export interface Batch {
  readonly events: readonly Event[];
  /** Per event: the row's id for mail of a log, else null. */
  readonly ids: readonly (number | null)[];
  /** Per event: what is remembered of a set once it is taken, else null. */
  readonly moves: readonly (SetMove | null)[];
  /** Per event: the alarm that is raised once it is taken, else null. */
  readonly alarms: readonly (Alarm | null)[];
  /** Where the mark stands when everything is taken. */
  readonly checkpoint: Checkpoint;
  /** Above the mark that it came from, everything in these spans is offered or was handed over; null: everything. */
  readonly spans: readonly Span[] | null;
  /** The edge among the events, if any; always the first event. */
  readonly edge: 'UP' | 'DOWN' | null;
  /** How many notices follow the edge. */
  readonly notices: number;
  /** The last event is a heartbeat. */
  readonly beats: boolean;
  readonly at: Instant;
  /** It came from a look that nothing was missing from: once everything is taken no pin is left. */
  readonly closes: boolean;
  /** The offer came from a full look: what it settles to is to be saved. */
  readonly save: boolean;
}

/** What was given to things of a set when they appeared and were offered. They keep it if they are offered again. */
export interface NumberedKeys {
  /** The next to give, unless more of the set was told. */
  readonly next: number;
  /** Not taken yet. */
  readonly keys: readonly NumberedKey[];
}

export interface NumberedKey {
  readonly key: string;
  readonly seq: number;
  /** The event that it was offered with. */
  readonly as: MailName;
}

/** Everything a watch knows. Plain data: it survives a JSON round trip unchanged. */
export interface WatcherState {
  readonly checkpoint: Checkpoint;
  /** How the first healthy look will decide the cursor; `armed` once it has (the event may still be among the notices). */
  readonly arming: 'baseline' | 'rearm' | 'born' | 'corrupt' | 'armed';
  /** Why a baseline, or why what was saved is given up. */
  readonly why: string;
  readonly health: Health;
  readonly failures: number;
  /** The last edge the agent was told of. */
  readonly deliveredEdge: 'UP' | 'DOWN';
  readonly notices: readonly Notice[];
  /** Ids above the mark that the sink held already when it opened, ascending. */
  readonly held: readonly number[];
  readonly numbered: NumberedKeys;
  /** The cursor at which a gap was told; null: none is open, or it was not told. */
  readonly gapAlerted: number | null;
  /** Until the mark is there nothing is skipped, whatever the cap on replays says; null: no such pin. */
  readonly releaseAt: number | null;
  /** There was a gap when the last process ended: the same. */
  readonly wasPinned: boolean;
  /** So many spans above the mark were forgotten since the pin began. */
  readonly forgot: number;
  readonly lossDelivered: boolean;
  readonly log: LogIdentity;
  /** The operator said to begin above everything that is there, so ids below the cursor are no other log. */
  readonly isAhead: boolean;
  readonly hiddenDelivered: boolean;
  /** When the last heartbeat that was told was made, or the watch opened. */
  readonly beatAt: Instant;
  /** The last N of `RUN-N`. */
  readonly count: number;
  readonly batch: Batch | null;
}

export function toSavedState(state: WatcherState): SavedState {
  const capped = state.notices.find((notice) => notice.is === 'replay_capped');
  const corrupt = state.notices.find((notice) => notice.is === 'state_corrupt');
  const born = state.notices.some(({ is }) => is === 'persona_added');
  const skipped = state.notices.find((notice) => notice.is === 'baseline_skipped');
  const restarted = state.notices.find((notice) => notice.is === 'log_restarted');
  const { checkpoint } = state;
  const savedCheckpoint = capped?.from ?? checkpoint;
  const saved: { -readonly [K in keyof SavedState]: SavedState[K] } = {
    cursor: savedCheckpoint.is === 'at' ? savedCheckpoint.id : null,
    state: state.deliveredEdge,
    consecutive_failures: state.failures,
  };
  // These keys are there only while they are in force.
  const { log } = state;
  if (log.name !== '')
    saved.log = {
      name: log.name,
      read_to: log.readTo,
      ...(restarted === undefined ? {} : { untold: [restarted.cursorAt, restarted.max] }),
    };
  if (state.isAhead) saved.seeded_ahead = true;
  if (checkpoint.is === 'at' && checkpoint.done !== undefined)
    saved.delivered_above = checkpoint.done.map(({ from, to }) => [from, to]);
  if (savedCheckpoint.is === 'known') saved.known = savedCheckpoint;
  if (state.gapAlerted !== null) saved.gap_alerted = state.gapAlerted;
  if (state.releaseAt !== null) saved.pin_release_at = state.releaseAt;
  if (state.lossDelivered) saved.pin_evidence_intact = false;
  if (corrupt !== undefined || state.arming === 'corrupt') saved.state_corrupt = corrupt?.why ?? state.why;
  if (state.hiddenDelivered) saved.unread_hidden = true;
  if (born) saved.persona_added = true;
  if (skipped !== undefined) saved.baseline_skipped = toBaselineFields(skipped);
  return saved;
}

/** A baseline over unread mail, in the fields of its event (Kijito contract b). */
export function toBaselineFields(notice: Extract<Notice, { is: 'baseline_skipped' }>): SavedBaseline {
  const { at, skipped, range, unread, why } = notice;
  return { armed_at: at, skipped, id_range: range, unread_held: unread ?? 'unknown', reason: why };
}

export function isSameSavedState(a: SavedState, b: SavedState): boolean {
  return (
    a.cursor === b.cursor &&
    a.state === b.state &&
    a.consecutive_failures === b.consecutive_failures &&
    a.gap_alerted === b.gap_alerted &&
    a.pin_release_at === b.pin_release_at &&
    a.pin_evidence_intact === b.pin_evidence_intact &&
    a.state_corrupt === b.state_corrupt &&
    a.unread_hidden === b.unread_hidden &&
    a.persona_added === b.persona_added &&
    a.seeded_ahead === b.seeded_ahead &&
    isDeepStrictEqual(a.log, b.log) &&
    isSameKnownSet(a.known, b.known) &&
    isDeepStrictEqual(a.baseline_skipped, b.baseline_skipped) &&
    (a.delivered_above === b.delivered_above || isDeepStrictEqual(a.delivered_above, b.delivered_above))
  );
}

/** What is remembered is never changed in place. */
function isSameKnownSet(a: SavedState['known'], b: SavedState['known']): boolean {
  return a === b || (a?.epoch === b?.epoch && a?.next === b?.next && a?.keys === b?.keys && a?.gone === b?.gone);
}

/** Up to which id everything was handed over; of a set, the last that was given. Null: not decided yet. */
export function getCursor(checkpoint: Checkpoint): number | null {
  switch (checkpoint.is) {
    case 'unset':
      return null;
    case 'at':
      return checkpoint.id;
    case 'known':
      return checkpoint.next - 1;
  }
}

/** Messages in one offer: the time it takes to write them is time in which nothing else is done. */
export const BATCH_MESSAGES = 50;

/** A mark with what is done above it: spans that touch it move it, and the lowest are forgotten when there are too many. */
export function toCheckpoint(
  id: number,
  spans: readonly Span[],
): { readonly checkpoint: Checkpoint; readonly forgot: number } {
  let at = id;
  const above: Span[] = [];
  for (const span of mergeSpans(spans)) {
    if (span.from <= at + 1) at = Math.max(at, span.to);
    else above.push(span);
  }
  const forgot = Math.max(0, above.length - MOST_SPANS);
  const done = above.slice(forgot);
  return { checkpoint: done.length === 0 ? { is: 'at', id: at } : { is: 'at', id: at, done }, forgot };
}

/** As many as the reference monitor remembers messages (Kijito contract, trap 26). */
const MOST_SPANS = 5000;
