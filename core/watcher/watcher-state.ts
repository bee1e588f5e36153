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
import type { AgentWait, HeardAgent } from './agent-waits.ts';
import type { SetMove } from './set-diff.ts';

/** The settings of a watcher. They do not change during its life. */
export interface WatcherRules {
  /** What events carry as `persona`; null for a single `--url` target. */
  readonly persona: PersonaId | null;
  /** The name of the persona at its source. Mail from this name is the persona's own. */
  readonly address: string;
  /** What events carry as `source`. */
  readonly source: string;
  /** 16 hex digits drawn once per process, for the ids of events that are not mail. */
  readonly run: string;
  readonly pollSeconds: number;
  /** The number of consecutive failures that make an outage, at least 1. */
  readonly alertAfter: number;
  /** On a re-arm, more messages than this are counted (`replay_capped`) instead of replayed. */
  readonly maxReplay: number;
  /** Milliseconds between heartbeats; null: none. */
  readonly heartbeatMs: number | null;
  /** Authors whose mail makes no event, in the form that `foldName` returns. */
  readonly suppressed: ReadonlySet<string>;
  /**
   * `at-most-once` (Kijito rev 6): the cursor moves past everything that was offered. `at-least-once`: it moves past
   * what the sink acknowledged, and the rest is offered again.
   */
  readonly delivery: 'at-most-once' | 'at-least-once';
  /** The alarms of this inbox that are switched off. Alarms exist only in at-least-once mode. */
  readonly silenced: ReadonlySet<Alarm>;
}

/** What an inbox reports beside mail and outages (Kijito contract b). */
export type Alarm = 'gap' | 'evidence-lost' | 'unread-not-shown';

export function isSuppressed(from: string | null, { suppressed }: WatcherRules): boolean {
  return from !== null && suppressed.size > 0 && suppressed.has(foldName(from));
}

/** What survives a restart (Kijito spec 7.3), without the identity, which belongs to the file. */
export type SavedState = SavedWatcherState;

/**
 * How a watcher begins. `resume`: from the saved state, where a null cursor means baseline. `seed`: at an id that the
 * operator gave. `baseline`: everything present is old, for the reason `why`. `born`: the inbox began during this run,
 * so everything in it is new. `corrupt`: the saved state cannot be read, so the visible messages are delivered again.
 * Saved health is always restored (Kijito spec 7.0).
 */
export type WatcherStart =
  | { readonly is: 'resume' | 'born' }
  | { readonly is: 'baseline'; readonly why?: string }
  | { readonly is: 'seed'; readonly id: number }
  | { readonly is: 'corrupt'; readonly why: string };

/** Delivered once, before any mail, when the watcher has decided its checkpoint. */
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
  /** `from` is the previous checkpoint. It stays the saved one until the notice that mail was skipped is delivered. */
  | { readonly is: 'replay_capped'; readonly from: Checkpoint; readonly cappedTo: number; readonly dropped: number };

/**
 * Identifies the log that ids belong to. The ids of an inbox may begin again, and then equal ids are other messages.
 */
interface LogIdentity {
  /** Part of the ids of its events; empty for the first log. */
  readonly name: string;
  /** Messages up to this id that are read were present when the log was first seen, so they are not new. */
  readonly readTo: number;
}

export const FIRST_LOG: LogIdentity = { name: '', readTo: 0 };

/** An event of a batch, and what its ack changes. */
export interface BatchEvent {
  readonly event: Event;
  /** The id of the message for mail of a log, else null. */
  readonly id: number | null;
  /** The change to the known items once it is acknowledged, else null. */
  readonly move: SetMove | null;
  /** The alarm that counts as raised once it is acknowledged, else null. */
  readonly alarm: Alarm | null;
  /** The wait that counts as delivered once it is acknowledged; absent for events about other things. */
  readonly wait?: AgentWait | null;
}

/** The batch that the sink has now. */
export interface Batch {
  readonly events: readonly BatchEvent[];
  /** The checkpoint once everything is acknowledged. */
  readonly checkpoint: Checkpoint;
  /**
   * Above the starting checkpoint, everything in these spans is in this batch or was delivered before; null:
   * everything.
   */
  readonly spans: readonly Span[] | null;
  /** The edge among the events, if any. It is always the first event. */
  readonly edge: 'UP' | 'DOWN' | null;
  /** How many notices follow the edge. */
  readonly notices: number;
  /** The last event is a heartbeat. */
  readonly beats: boolean;
  readonly at: Instant;
  /** The poll result had no gap, so no pin is left once everything is acknowledged. */
  readonly closes: boolean;
  /** The batch came from a full poll, so the state after its ack is saved. */
  readonly save: boolean;
}

/** The `seq` numbers of items that were offered as new. An item keeps its number when it is offered again. */
export interface NumberedKeys {
  /** The next number to give, unless the delivered set is already further. */
  readonly next: number;
  /** The items that are not acknowledged yet. */
  readonly keys: readonly NumberedKey[];
}

export interface NumberedKey {
  readonly key: string;
  readonly seq: number;
  /** The event that announced the item. */
  readonly as: MailName;
}

/** The whole state of a watcher. It is plain data and survives a JSON round trip unchanged. */
export interface WatcherState {
  readonly checkpoint: Checkpoint;
  /** How the first healthy poll decides the cursor; `armed` once it has (the event may still be among the notices). */
  readonly arming: 'baseline' | 'rearm' | 'born' | 'corrupt' | 'armed';
  /** Why there is a baseline, or why the saved state was given up. */
  readonly why: string;
  readonly health: Health;
  readonly failures: number;
  /** The last edge that was delivered. */
  readonly deliveredEdge: 'UP' | 'DOWN';
  readonly notices: readonly Notice[];
  /** Ids above the checkpoint that the sink already held when it was opened, ascending. */
  readonly held: readonly number[];
  readonly numbered: NumberedKeys;
  /** The cursor at which a gap was reported; null: there is no gap, or it was not reported. */
  readonly gapAlerted: number | null;
  /** Nothing is skipped until the checkpoint reaches this id, whatever the replay cap says; null: no such pin. */
  readonly releaseAt: number | null;
  /** There was a gap when the last process ended, so nothing is skipped either. */
  readonly wasPinned: boolean;
  /** How many spans above the checkpoint were dropped since the pin began. */
  readonly forgot: number;
  readonly lossDelivered: boolean;
  readonly log: LogIdentity;
  /** The operator set the cursor above all existing ids, so ids below the cursor do not mean another log. */
  readonly isAhead: boolean;
  readonly hiddenDelivered: boolean;
  /** Null: the board said nothing yet. */
  readonly agent: HeardAgent | null;
  /** The wait of the agent that was delivered, until its end was. */
  readonly wait: AgentWait | null;
  /** When the last delivered heartbeat was made, or when the watcher was opened. */
  readonly beatAt: Instant;
  /** The last N of `RUN-N`. */
  readonly count: number;
  readonly batch: Batch | null;
}

type MutableSavedState = { -readonly [K in keyof SavedState]: SavedState[K] };

export function toSavedState(state: WatcherState): SavedState {
  const { checkpoint, log, notices } = state;
  const saved: MutableSavedState = {
    cursor: null,
    state: state.deliveredEdge,
    consecutive_failures: state.failures,
  };
  saveCheckpoint(saved, checkpoint);
  // The optional keys below are saved only while they apply.
  if (log.name !== '') saved.log = { name: log.name, read_to: log.readTo };
  if (state.isAhead) saved.seeded_ahead = true;
  if (checkpoint.is === 'at' && checkpoint.done !== undefined)
    saved.delivered_above = checkpoint.done.map(({ from, to }) => [from, to]);
  if (state.gapAlerted !== null) saved.gap_alerted = state.gapAlerted;
  if (state.releaseAt !== null) saved.pin_release_at = state.releaseAt;
  if (state.lossDelivered) saved.pin_evidence_intact = false;
  if (state.arming === 'corrupt') saved.state_corrupt = state.why;
  if (state.hiddenDelivered) saved.unread_hidden = true;
  if (state.wait !== null) saved.agent_wait = state.wait;
  for (const notice of notices) saveNotice(saved, notice);
  return saved;
}

function saveCheckpoint(saved: MutableSavedState, checkpoint: Checkpoint): void {
  saved.cursor = checkpoint.is === 'at' ? checkpoint.id : null;
  if (checkpoint.is === 'known') saved.known = checkpoint;
  else if (saved.known !== undefined) delete saved.known;
}

/** A notice that is not delivered yet is saved with the state. */
function saveNotice(saved: MutableSavedState, notice: Notice): void {
  switch (notice.is) {
    case 'replay_capped':
      saveCheckpoint(saved, notice.from);
      return;
    case 'state_corrupt':
      saved.state_corrupt = notice.why;
      return;
    case 'persona_added':
      saved.persona_added = true;
      return;
    case 'baseline_skipped':
      saved.baseline_skipped = toBaselineFields(notice);
      return;
    case 'log_restarted':
      if (saved.log !== undefined) saved.log = { ...saved.log, untold: [notice.cursorAt, notice.max] };
      return;
    default:
      return;
  }
}

/** Returns the fields of the `baseline_skipped` event: a baseline that skipped unread mail (Kijito contract b). */
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
    isDeepStrictEqual(a.agent_wait, b.agent_wait) &&
    isSameKnownSet(a.known, b.known) &&
    isDeepStrictEqual(a.baseline_skipped, b.baseline_skipped) &&
    (a.delivered_above === b.delivered_above || isDeepStrictEqual(a.delivered_above, b.delivered_above))
  );
}

/** Known sets are never changed in place, so comparing references is enough. */
function isSameKnownSet(a: SavedState['known'], b: SavedState['known']): boolean {
  return a === b || (a?.epoch === b?.epoch && a?.next === b?.next && a?.keys === b?.keys && a?.gone === b?.gone);
}

/**
 * Returns the id up to which everything was delivered; for a set, the last `seq` that was given. Null: not decided yet.
 */
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

/** The maximum number of messages in one batch. Nothing else runs while a batch is written. */
export const BATCH_MESSAGES = 50;

/**
 * Builds a checkpoint from an id and the delivered spans above it. Spans that touch the id move it. If there are too
 * many spans, the lowest are dropped.
 */
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

/** The reference monitor remembers as many messages (Kijito contract, trap 26). */
const MOST_SPANS = 5000;
