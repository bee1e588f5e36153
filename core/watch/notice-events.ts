import type { AlarmEvent, Event } from '../events/index.ts';
import type { Gap } from '../sources/index.ts';
import { type Notice, toBaselineFields } from './watcher-state.ts';

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
