import type { AlarmEvent, Event } from '../events/index.ts';
import type { Count } from '../model/index.ts';
import type { Gap, LogEvidence, Message, PollResult } from '../sources/index.ts';
import { type Notice, toBaselineFields, type WatcherRules, type WatcherState } from './watcher-state.ts';

/** Once all unread mail is shown again, the alarm about mail that is not shown may be raised again (trap 47). */
export function clearHiddenAlarm(state: WatcherState, { hidden }: LogEvidence): WatcherState {
  return state.hiddenDelivered && hidden?.unread === 0 ? { ...state, hiddenDelivered: false } : state;
}

/** Returns the alarms of this poll result that were not delivered before. */
export function findAlarms(
  state: WatcherState,
  { hidden, messages }: LogEvidence,
  gap: Gap | undefined,
  rules: WatcherRules,
  cursor: number,
  above: readonly Message[],
): readonly AlarmDetails[] {
  if (rules.delivery === 'at-most-once' || (gap === undefined && hidden === undefined)) return [];
  const alarms: AlarmDetails[] = [];
  if (gap !== undefined && state.gapAlerted !== cursor) alarms.push({ is: 'gap', cursor, gap });
  if (gap !== undefined && state.forgot > 0 && !state.lossDelivered)
    alarms.push({ is: 'evidence-lost', cursor, forgot: state.forgot });
  if (hidden !== undefined && hidden.unread > 0 && !state.hiddenDelivered) {
    const isAbove = isHiddenAbove(hidden.floor, gap, cursor, above);
    const floor = hidden.floor ?? messages[0]?.id ?? null;
    alarms.push({ is: 'unread-not-shown', cursor, unread: hidden.unread, floor, isAbove });
  }
  return alarms.filter(({ is }) => !rules.silenced.has(is));
}

/** Returns whether unread mail that the newest page does not show lies above the cursor; null when this is unknown. */
function isHiddenAbove(
  floor: number | null,
  gap: Gap | undefined,
  cursor: number,
  above: readonly Message[],
): boolean | null {
  if (floor === null) return null;
  if (floor <= cursor + 1) return false;
  const isShown = above.some((message) => message.id < floor && !message.read);
  return isShown ? true : gap === undefined ? false : null;
}

/** The details of an alarm, before it becomes an event. */
export type AlarmDetails =
  | { readonly is: 'gap'; readonly cursor: number; readonly gap: Gap }
  | { readonly is: 'evidence-lost'; readonly cursor: number; readonly forgot: number }
  | {
      readonly is: 'unread-not-shown';
      readonly cursor: number;
      readonly unread: number;
      readonly floor: number | null;
      readonly isAbove: boolean | null;
    };

/** Returns the common fields of an event with the given name, for every event but mail. */
type Head = (name: Event['event']) => Omit<Extract<Event, { event: 'armed' }>, 'event' | 'cursor'>;

/** Turns a notice into an event. `cursor` is the position of the watcher (Kijito contract b). */
export function toNoticeEvent(notice: Notice, head: Head, cursor: number): Event {
  switch (notice.is) {
    case 'persona_added':
      return { ...head('persona_added'), event: 'persona_added' };
    case 'log_restarted':
      return {
        ...head('alert'),
        event: 'alert',
        reason: 'log-restarted',
        cursor_at: notice.cursorAt,
        current_max: notice.max,
      };
    case 'armed':
      return { ...head('armed'), event: 'armed', cursor };
    case 'seed_ahead':
      return { ...head('seed_ahead'), event: 'seed_ahead', seeded: notice.seeded, current_max: notice.currentMax };
    case 'replay_capped':
      return { ...head('replay_capped'), event: 'replay_capped', capped_to: notice.cappedTo, dropped: notice.dropped };
    case 'state_corrupt':
      return { ...head('state_corrupt'), event: 'state_corrupt', armed_at: notice.at, reason: notice.why };
    case 'baseline_skipped':
      return { ...head('baseline_skipped'), event: 'baseline_skipped', ...toBaselineFields(notice) };
  }
}

/**
 * Turns an alarm into an event. An alarm reports what was observed and never a diagnosis (Kijito contract b, trap 29).
 */
export function toAlarmEvent(alarm: AlarmDetails): AlarmEvent {
  switch (alarm.is) {
    case 'gap': {
      const { omitted, floor, walked } = alarm.gap;
      return {
        event: 'alert',
        reason: 'gap',
        omitted,
        window_floor: floor,
        cursor_at: alarm.cursor,
        reconciled: walked,
        pinned: true,
      };
    }
    case 'evidence-lost':
      return {
        event: 'alert',
        reason: 'evidence-lost',
        cursor_at: alarm.cursor,
        forgot: alarm.forgot,
        pinned: true,
        evidence_lost: true,
      };
    case 'unread-not-shown':
      return {
        event: 'alert',
        reason: 'unread-not-shown',
        unread_not_shown: alarm.unread,
        window_floor: alarm.floor,
        cursor_at: alarm.cursor,
        above_watermark: alarm.isAbove,
      };
  }
}

/**
 * Sets the cursor at the first poll, before any mail. There are three branches for a first poll, a fourth for an inbox
 * born during the run, and a fifth for a position that cannot be read.
 */
export function decideCursor(
  state: WatcherState,
  { unread }: PollResult,
  evidence: LogEvidence,
  rules: WatcherRules,
): WatcherState {
  const { messages, max } = evidence;
  const arm = (id: number, ...notices: Notice[]): WatcherState => ({
    ...state,
    arming: 'armed',
    checkpoint: state.checkpoint.is === 'at' && state.checkpoint.id === id ? state.checkpoint : { is: 'at', id },
    held: state.held.filter((h) => h > id),
    notices: [...state.notices, ...notices, { is: 'armed' }],
  });
  if (state.arming === 'corrupt') {
    const id = (messages[0]?.id ?? 1) - 1;
    return { ...arm(id, { is: 'state_corrupt', at: id, why: state.why }), releaseAt: max, wasPinned: true };
  }
  if (state.checkpoint.is !== 'at') return arm(max, ...toSkippedNotices(state, unread, evidence, rules));
  const cursor = state.checkpoint.id;
  if (state.arming === 'born') return arm(cursor);
  if (cursor > max) return arm(cursor, { is: 'seed_ahead', seeded: cursor, currentMax: max });
  if (state.wasPinned) return arm(cursor);
  const held = new Set(state.held);
  const replay = messages.filter((message) => message.id > cursor && !held.has(message.id)).length;
  if (replay > rules.maxReplay)
    return arm(max, { is: 'replay_capped', from: state.checkpoint, cappedTo: max, dropped: replay });
  return arm(cursor);
}

/**
 * A baseline that skips unread mail raises a notice. It is silent when nothing is unread, or in at-most-once mode (rev
 * 6).
 */
function toSkippedNotices(
  state: WatcherState,
  unread: Count,
  { messages, max }: LogEvidence,
  rules: WatcherRules,
): readonly Notice[] {
  const oldest = messages[0]?.id;
  if (rules.delivery === 'at-most-once' || oldest === undefined) return [];
  if (unread.is === 'exact' && unread.n === 0) return [];
  const held = unread.is === 'exact' ? unread.n : null;
  return [
    { is: 'baseline_skipped', at: max, skipped: messages.length, range: [oldest, max], unread: held, why: state.why },
  ];
}
