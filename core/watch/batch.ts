import type { Fact } from '../board/index.ts';
import { type Event, type HiveAlarmEvent, toOtherEventId } from '../events/index.ts';
import type { Instant, Span } from '../model/index.ts';
import type { Checkpoint } from '../sources/index.ts';
import { applyAck } from './apply-ack.ts';
import { type BatchMessage, toCommonFields } from './mail-events.ts';
import { type AlarmDetails, toAlarmEvent, toNoticeEvent } from './notice-events.ts';
import type { SetMove } from './set-diff.ts';
import {
  type Alarm,
  type Batch,
  getCursor,
  type Notice,
  type SavedState,
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
export interface BatchDraft {
  readonly mail: readonly BatchMessage[];
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

/**
 * Builds the events of one poll in their fixed order: edge, notices, gap alarms, mail by ascending id, the alarm about
 * unread mail that is not shown, heartbeat (Kijito spec 6.1, Kijito contract b).
 */
export function buildBatch(state: WatcherState, at: Instant, rules: WatcherRules, draft: BatchDraft): StepOutput {
  const cursor = getCursor(state.checkpoint);
  const after = getCursor(draft.checkpoint);
  const { more: hasMore } = draft;
  const beats = !hasMore && isBeatDue(state, at, rules);
  const events: Event[] = [];
  const ids: (number | null)[] = [];
  const moves: (SetMove | null)[] = [];
  const alarms: (Alarm | null)[] = [];
  let count = state.count;
  const toHead = (name: Event['event']) => {
    count += 1;
    return toCommonFields(rules, at, name, toOtherEventId(rules.persona, name, rules.run, count));
  };
  const say = (event: Event, message: Partial<BatchMessage> = {}, alarm: Alarm | null = null): void => {
    events.push(event);
    ids.push(message.id ?? null);
    moves.push(message.move ?? null);
    alarms.push(alarm);
  };
  const raise = (alarm: AlarmDetails): void => say({ ...toHead('alert'), ...toAlarmEvent(alarm) }, {}, alarm.is);
  if (draft.edge === 'DOWN') {
    const seconds = state.failures * rules.pollSeconds;
    say({ ...toHead('alert'), event: 'alert', reason: 'unreachable', consecutive_failures: state.failures, seconds });
  } else if (draft.edge === 'UP') {
    say({ ...toHead('recovered'), event: 'recovered', cursor });
  }
  for (const notice of draft.notices) say(toNoticeEvent(notice, toHead, cursor ?? 0));
  for (const alarm of draft.alarms) if (alarm.is !== 'unread-not-shown') raise(alarm);
  for (const mail of draft.mail) say(mail.event, mail);
  for (const alarm of draft.alarms) if (alarm.is === 'unread-not-shown' && !hasMore) raise(alarm);
  if (draft.hive !== null) say({ ...toHead('alert'), ...draft.hive });
  if (beats) say({ ...toHead('heartbeat'), event: 'heartbeat', cursor: after });

  const { checkpoint, spans, closes, edge, notices, facts, save, saveFirst } = draft;
  const contents = { events, ids, moves, alarms, edge, notices: notices.length, beats };
  const batch: Batch = { ...contents, checkpoint, spans, closes, save, at };
  const next: WatcherState = { ...state, count, batch };
  const acknowledged = applyAck(next, batch, events.length);
  if (events.length > 0)
    return { state: next, batch: events, saved: toSavedState(acknowledged), facts, save: saveFirst, more: hasMore };
  return { state: acknowledged, batch: [], saved: toSavedState(acknowledged), facts, save, more: hasMore };
}
