import type { Fact } from '../board/index.ts';
import {
  addExtra,
  type ChangeEvent,
  type Event,
  type HiveAlarmEvent,
  type MailEvent,
  toChangeEventId,
  toMailEventId,
  toOtherEventId,
  toWakeClass,
} from '../events/index.ts';
import {
  type ChangeName,
  type Extra,
  formatIso,
  type Instant,
  isSameName,
  type KnownItem,
  type MailName,
  type Span,
} from '../model/index.ts';
import type { Checkpoint } from '../sources/index.ts';
import { findWaitChanges, type WaitChange } from './agent-waits.ts';
import { type AlarmDetails, toAlarmEvent, toNoticeEvent } from './inbox-alarms.ts';
import { applyMoves, type SetMove } from './set-diff.ts';
import {
  type Alarm,
  type Batch,
  type BatchEvent,
  getCursor,
  type Notice,
  type NumberedKeys,
  type SavedState,
  toCheckpoint,
  toSavedState,
  type WatcherRules,
  type WatcherState,
} from './watcher-state.ts';

/**
 * The output of one step. The caller puts `facts` on the board and, if `save` is set, makes `toSavedState(state)`
 * durable. Only then does it hand `batch` to the sink, with `saved`, the state to save once the whole batch is
 * delivered. It feeds the ack of the sink to the next step.
 */
export interface StepOutput {
  readonly state: WatcherState;
  readonly batch: readonly Event[];
  readonly saved: SavedState;
  readonly facts: readonly Fact[];
  readonly save: boolean;
  /** The poll result holds more than one batch can carry. Step it again once the sink has acknowledged this batch. */
  readonly more: boolean;
}

/** Compares the absolute distance in time, so that a wall clock that was set back does not silence the heartbeat. */
export function isBeatDue(state: WatcherState, at: Instant, rules: WatcherRules): boolean {
  return rules.heartbeatMs !== null && Math.abs(at - state.beatAt) >= rules.heartbeatMs;
}

/** What a batch has to carry, before it is formatted as events. */
interface BatchDraft {
  readonly mail: readonly BatchEvent[];
  readonly checkpoint: Checkpoint;
  readonly spans: readonly Span[] | null;
  readonly alarms: readonly AlarmDetails[];
  readonly hive: HiveAlarmEvent | null;
  readonly closes: boolean;
  /** More mail follows that is not in `mail`. Whatever comes after mail waits for it. */
  readonly more: boolean;
  readonly facts: readonly Fact[];
  readonly save: boolean;
  /**
   * The cursor was just set. It is saved before `armed` is delivered, so that a kill in between makes no second
   * baseline.
   */
  readonly saveFirst: boolean;
  readonly edge: 'UP' | 'DOWN' | null;
  readonly notices: readonly Notice[];
}

/** A draft without content of its own. A batch made of it carries only what is due anyway, such as a heartbeat. */
export const EMPTY_DRAFT = {
  mail: [],
  spans: null,
  alarms: [],
  hive: null,
  closes: false,
  more: false,
  facts: [],
  save: false,
  saveFirst: false,
  edge: null,
  notices: [],
} as const;

/** Builds the batch of one poll. */
export function buildBatch(state: WatcherState, at: Instant, rules: WatcherRules, draft: BatchDraft): StepOutput {
  const { checkpoint, spans, closes, edge, notices, facts, save, saveFirst, more } = draft;
  const beats = !more && isBeatDue(state, at, rules);
  // `armed` and other notices come first, also those that the sink refused.
  const saysWaits =
    rules.delivery === 'at-least-once' && state.arming === 'armed' && notices.length === state.notices.length;
  const waits = saysWaits ? findWaitChanges(state.agent, state.wait) : [];
  const isOnlyMail = isMailDraft(draft) && !beats && waits.length === 0;
  const events = isOnlyMail ? draft.mail : listEvents(state, at, rules, { ...draft, waits }, beats);
  const count = state.count + events.length - draft.mail.length;
  const batch: Batch = { events, edge, notices: notices.length, beats, checkpoint, spans, closes, save, at };
  const acknowledged = applyAck(count === state.count ? state : { ...state, count }, batch, events.length);
  const saved = toSavedState(acknowledged);
  if (events.length === 0) return { state: acknowledged, batch: [], saved, facts, save, more };
  const next: WatcherState = { ...state, count, batch };
  return { state: next, batch: events.map(({ event }) => event), saved, facts, save: saveFirst, more };
}

function isMailDraft({ edge, notices, alarms, hive }: BatchDraft): boolean {
  return edge === null && notices.length === 0 && alarms.length === 0 && hive === null;
}

/**
 * Lists the events of one poll in their fixed order: edge, notices, waits of the agent, gap alarms, mail by ascending id,
 * the alarm about unread mail that is not shown, heartbeat (Kijito spec 6.1, Kijito contract b).
 */
function listEvents(
  state: WatcherState,
  at: Instant,
  rules: WatcherRules,
  draft: BatchDraft & { readonly waits: readonly WaitChange[] },
  beats: boolean,
): readonly BatchEvent[] {
  const cursor = getCursor(state.checkpoint);
  const events: BatchEvent[] = [];
  let { count } = state;
  const toHead = (name: Event['event']) => {
    count += 1;
    return toCommonFields(rules, at, name, toOtherEventId(rules.persona, name, rules.run, count));
  };
  const say = (event: Event, alarm: Alarm | null = null): void =>
    void events.push({ event, id: null, move: null, alarm });
  const raise = (alarm: AlarmDetails): void => say({ ...toHead('alert'), ...toAlarmEvent(alarm) }, alarm.is);
  if (draft.edge === 'DOWN') {
    const seconds = state.failures * rules.pollSeconds;
    say({ ...toHead('alert'), event: 'alert', reason: 'unreachable', consecutive_failures: state.failures, seconds });
  } else if (draft.edge === 'UP') {
    say({ ...toHead('recovered'), event: 'recovered', cursor });
  }
  for (const notice of draft.notices) say(toNoticeEvent(notice, toHead, cursor ?? 0));
  for (const { event, delivered } of draft.waits)
    events.push({ event: { ...toHead(event.event), ...event }, id: null, move: null, alarm: null, wait: delivered });
  for (const alarm of draft.alarms) if (alarm.is !== 'unread-not-shown') raise(alarm);
  events.push(...draft.mail);
  for (const alarm of draft.alarms) if (alarm.is === 'unread-not-shown' && !draft.more) raise(alarm);
  if (draft.hive !== null) say({ ...toHead('alert'), ...draft.hive });
  if (beats) say({ ...toHead('heartbeat'), event: 'heartbeat', cursor: getCursor(draft.checkpoint) });
  return events;
}

/** Returns the state after the sink has acknowledged the first `count` events of the batch. */
export function applyAck(state: WatcherState, batch: Batch, count: number): WatcherState {
  const isEdgeDelivered = batch.edge !== null && count > 0;
  const lead = batch.edge === null ? 0 : 1;
  const noticesDelivered = Math.min(Math.max(count - lead, 0), batch.notices);
  const acknowledged = count >= batch.events.length ? batch.events : batch.events.slice(0, count);
  const blocked = findBlockedId(batch, count);
  const moves = acknowledged.flatMap(({ move }) => move ?? []);
  const checkpoint = computeCheckpoint(state.checkpoint, batch, blocked, moves);
  const cursor = checkpoint.is === 'at' ? checkpoint.id : 0;
  const isRaised = (name: Alarm): boolean => acknowledged.some(({ alarm }) => alarm === name);
  const wait = acknowledged.findLast((event) => event.wait !== undefined)?.wait;
  const isPinOver = batch.closes && blocked === null && isPinned(state);
  const pinned = isPinOver ? { ...state, ...NO_PIN } : state;
  return {
    ...pinned,
    gapAlerted: isRaised('gap') ? cursor : pinned.gapAlerted,
    lossDelivered: isRaised('evidence-lost') || pinned.lossDelivered,
    checkpoint,
    numbered: moves.length === 0 ? state.numbered : removeDelivered(state.numbered, moves),
    held: state.held.length === 0 ? state.held : state.held.filter((id) => id > cursor),
    wait: wait === undefined ? state.wait : wait,
    hiddenDelivered: state.hiddenDelivered || isRaised('unread-not-shown'),
    releaseAt: state.releaseAt !== null && cursor >= state.releaseAt ? null : state.releaseAt,
    deliveredEdge: isEdgeDelivered && batch.edge !== null ? batch.edge : state.deliveredEdge,
    notices: noticesDelivered === 0 ? state.notices : state.notices.slice(noticesDelivered),
    beatAt: batch.beats && count === batch.events.length ? batch.at : state.beatAt,
    batch: null,
  };
}

/** Returns the id of the first message that is not acknowledged; null when all are. */
function findBlockedId({ events }: Batch, count: number): number | null {
  for (let at = count; at < events.length; at += 1) {
    const id = events[at]?.id ?? null;
    if (id !== null) return id;
  }
  return null;
}

function computeCheckpoint(
  checkpoint: Checkpoint,
  batch: Batch,
  blocked: number | null,
  moves: readonly SetMove[],
): Checkpoint {
  if (checkpoint.is === 'known')
    return moves.length === 0 ? checkpoint : { ...applyMoves(checkpoint, moves), is: 'known' };
  return blocked === null ? batch.checkpoint : toCheckpointBelow(checkpoint, blocked, batch.spans);
}

/** Keeps the items that are not delivered yet, with the `seq` they have. */
function removeDelivered({ next, keys }: NumberedKeys, moves: readonly SetMove[]): NumberedKeys {
  const deliveredKeys = new Set(moves.map((move) => (move.is === 'put' ? move.known.key : move.key)));
  return { next, keys: keys.filter(({ key }) => !deliveredKeys.has(key)) };
}

const NO_PIN = { gapAlerted: null, wasPinned: false, forgot: 0, lossDelivered: false } as const;

function isPinned(state: WatcherState): boolean {
  return state.gapAlerted !== null || state.wasPinned || state.forgot > 0 || state.lossDelivered;
}

/**
 * Moves the checkpoint to just below `blocked`, the first message that is not delivered, and never backwards. `spans`
 * are the id ranges that the poll result covered; null means all.
 */
export function toCheckpointBelow(checkpoint: Checkpoint, blocked: number, spans: readonly Span[] | null): Checkpoint {
  const [id, done] = checkpoint.is === 'at' ? [checkpoint.id, checkpoint.done ?? []] : [0, []];
  const known = spans ?? [{ from: id + 1, to: Number.MAX_SAFE_INTEGER }];
  const deliveredSpans = known.flatMap(({ from, to }) =>
    from < blocked ? [{ from, to: Math.min(to, blocked - 1) }] : [],
  );
  return toCheckpoint(id, [...done, ...deliveredSpans]).checkpoint;
}

/** Returns the fields that every event has. */
function toCommonFields(rules: WatcherRules, at: Instant, name: Event['event'], eventId: string) {
  return {
    source: rules.source,
    ts: formatIso(at),
    ...(rules.persona === null ? {} : { persona: rules.persona }),
    event_id: eventId,
    wake_class: toWakeClass(name),
  };
}

/** The fields that both a message of a log and an item of a set with its `seq` have. */
type MessageFields = Pick<MailEvent, 'id' | 'from' | 'created' | 'origin'> & {
  readonly content: string | null;
  readonly isOwn?: boolean;
  readonly extra?: Extra;
};

export function toMailEvent(
  { id, from, created, content, origin, isOwn, extra }: MessageFields,
  rules: WatcherRules,
  at: Instant,
  name: MailName = 'new',
  log = '',
): MailEvent {
  const event: { -readonly [K in keyof MailEvent]: MailEvent[K] } = {
    event: name,
    source: rules.source,
    ts: formatIso(at),
    event_id: toMailEventId(rules.persona, id, name, log),
    wake_class: toWakeClass(name),
    id,
    from,
    created,
  };
  if (rules.persona !== null) event.persona = rules.persona;
  if (isOwn ?? (from !== null && rules.address !== '' && isSameName(from, rules.address))) event.self = true;
  if (origin !== undefined) event.origin = origin;
  if (content !== null) event.content = content;
  return extra === undefined ? event : addExtra(event, extra);
}

/**
 * The event id stays the same when the event is offered again. It differs when the item later changes to the same state
 * again.
 */
export function toChangeEvent(
  name: ChangeName,
  seq: number,
  { changes }: KnownItem,
  extra: Extra,
  rules: WatcherRules,
  at: Instant,
): ChangeEvent {
  const head = toCommonFields(rules, at, name, toChangeEventId(rules.persona, name, seq, changes + 1));
  return addExtra({ ...head, event: name, id: seq }, extra);
}
