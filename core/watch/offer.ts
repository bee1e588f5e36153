import type { Fact } from '../board/index.ts';
import { type Event, type HiveAlarmEvent, otherEventId } from '../events/index.ts';
import type { Instant, Span } from '../model/index.ts';
import type { Mark } from '../sources/index.ts';
import type { Move } from './diff.ts';
import { common, type Mail } from './mail.ts';
import { type AlarmSaying, alarmEvent, noticeEvent } from './said.ts';
import { settle } from './settle.ts';
import {
  type Alarm,
  cursorOf,
  type Notice,
  type Offer,
  type Rules,
  type Saved,
  savedOf,
  type WatchState,
} from './state.ts';

/**
 * What to do about it. Put the facts on the board; `save` asks for `savedOf(state)` to be made durable, before anything
 * is handed over; then hand `offer` to the sink (with `kept`, which is what to remember once all of it is taken) and step
 * the answer.
 */
export interface Output {
  readonly state: WatchState;
  readonly offer: readonly Event[];
  readonly kept: Saved;
  readonly facts: readonly Fact[];
  readonly save: boolean;
  /** The look holds more than one offer can carry: step it again once the sink has taken this. */
  readonly more: boolean;
}

/** The distance, not the difference: a wall clock that was set back must not silence the proof of life. */
export function beatIsDue(state: WatchState, at: Instant, rules: Rules): boolean {
  return rules.heartbeatMs !== null && Math.abs(at - state.beatAt) >= rules.heartbeatMs;
}

/** What is to be said now, before it is in words. */
export interface Saying {
  readonly mail: readonly Mail[];
  readonly mark: Mark;
  readonly spans: readonly Span[] | null;
  readonly alarms: readonly AlarmSaying[];
  readonly hive: HiveAlarmEvent | null;
  readonly closes: boolean;
  /** Mail that is not in `mail` follows: what comes after mail waits for it. */
  readonly more: boolean;
  readonly facts: readonly Fact[];
  readonly save: boolean;
  /** The cursor was just set: it is saved before `armed` is told, so that a kill between them makes no second baseline. */
  readonly saveFirst: boolean;
  readonly edge: 'UP' | 'DOWN' | null;
  readonly notices: readonly Notice[];
}

/** Nothing of its own: what is due anyway is said. */
export const SILENT = {
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
 * Builds the events of one poll in their total order: edge, notices, alarms of a gap, mail ascending, the alarm of unread
 * mail that is not shown, heartbeat (Kijito spec 6.1, Kijito contract b).
 */
export function offering(state: WatchState, at: Instant, rules: Rules, saying: Saying): Output {
  const cursor = cursorOf(state.mark);
  const after = cursorOf(saying.mark);
  const { more } = saying;
  const beats = !more && beatIsDue(state, at, rules);
  const events: Event[] = [];
  const ids: (number | null)[] = [];
  const moves: (Move | null)[] = [];
  const alarms: (Alarm | null)[] = [];
  let count = state.count;
  const head = (name: Event['event']) => {
    count += 1;
    return common(rules, at, name, otherEventId(rules.persona, name, rules.run, count));
  };
  const say = (event: Event, of: Partial<Mail> = {}, alarm: Alarm | null = null): void => {
    events.push(event);
    ids.push(of.id ?? null);
    moves.push(of.move ?? null);
    alarms.push(alarm);
  };
  const raise = (alarm: AlarmSaying): void => say({ ...head('alert'), ...alarmEvent(alarm) }, {}, alarm.is);
  if (saying.edge === 'DOWN') {
    const seconds = state.failures * rules.pollSeconds;
    say({ ...head('alert'), event: 'alert', reason: 'unreachable', consecutive_failures: state.failures, seconds });
  } else if (saying.edge === 'UP') {
    say({ ...head('recovered'), event: 'recovered', cursor });
  }
  for (const notice of saying.notices) say(noticeEvent(notice, head, cursor ?? 0));
  for (const alarm of saying.alarms) if (alarm.is !== 'unread-not-shown') raise(alarm);
  for (const mail of saying.mail) say(mail.event, mail);
  for (const alarm of saying.alarms) if (alarm.is === 'unread-not-shown' && !more) raise(alarm);
  if (saying.hive !== null) say({ ...head('alert'), ...saying.hive });
  if (beats) say({ ...head('heartbeat'), event: 'heartbeat', cursor: after });

  const { mark, spans, closes, edge, notices, facts, save, saveFirst } = saying;
  const said = { events, ids, moves, alarms, edge, notices: notices.length, beats };
  const offer: Offer = { ...said, mark, spans, closes, save, at };
  const next: WatchState = { ...state, count, offer };
  const settled = settle(next, offer, events.length);
  if (events.length > 0) return { state: next, offer: events, kept: savedOf(settled), facts, save: saveFirst, more };
  return { state: settled, offer: [], kept: savedOf(settled), facts, save, more };
}
