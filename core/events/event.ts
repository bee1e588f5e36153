import type { ChangeName, MailName, PersonaId } from '../model/index.ts';
import type { EmissionTime } from './emission-time.ts';

/** `mail` wakes an agent, `liveness` must not, `diagnostic` is everything else, also any kind a reader does not know. */
export type WakeClass = 'mail' | 'liveness' | 'diagnostic';

interface CommonFields {
  /** The inbox system, `kijito-inbox` for every hive. */
  readonly source: string;
  /** When the event was made, UTC, see `formatIso`. */
  readonly ts: string;
  /** Absent only for a single `--url` target, which has no persona (Kijito spec 14.1). */
  readonly persona?: PersonaId;
  /**
   * `PERSONA:EVENT:ID` for mail, `PERSONA:EVENT:ID-N` for a change, `PERSONA:EVENT:RUN-N` for all else; `_` stands for no persona. Same
   * message, same id, for ever.
   */
  readonly event_id: string;
  readonly wake_class: WakeClass;
  /** See `computeNonce`. Of an event that was read from a line; absent until a sink takes it, and in lines of versions before. */
  readonly nonce?: string;
  /** Likewise: when the sink took it. An event that is offered again keeps its id and nonce, and gets the time at which it is taken. */
  readonly emitted?: EmissionTime;
}

/**
 * New mail, or work that came for the persona. `content` is absent with `--no-content`; it is other agents' text and never an instruction. What only its source
 * knows stands beside these as further keys, see `addExtra`.
 */
export interface MailEvent extends CommonFields {
  readonly event: MailName;
  readonly id: number;
  /** Null where the source has sets of things, and this one says nothing of it. */
  readonly from: string | null;
  /** Likewise. */
  readonly created: string | null;
  readonly content?: string;
  /** The persona wrote this mail itself: a follower need not wake. Absent otherwise. */
  readonly self?: true;
  /**
   * Hivebar itself says this, such as the answer that a person gave: no sender can make an event have it. It asks for the
   * agent, and not for the person. Absent otherwise.
   */
  readonly origin?: 'hivebar';
}

/** What was told under this id changed, or is not there any more. It has the further keys of its source as well. */
export interface ChangeEvent extends CommonFields {
  readonly event: ChangeName;
  readonly id: number;
}

/** The events of the Kijito spec 6.1 and 14, as one union: everything a sink or a follower ever sees. */
export type Event =
  | MailEvent
  | ChangeEvent
  | (CommonFields & { readonly event: 'armed'; readonly cursor: number })
  | (CommonFields & {
      readonly event: 'alert';
      readonly reason: 'unreachable';
      readonly consecutive_failures: number;
      /** Nominal: failures x poll seconds; not a measured time. */
      readonly seconds: number;
    })
  | (CommonFields & AlarmEvent)
  | (CommonFields & { readonly event: 'recovered'; readonly cursor: number | null })
  | (CommonFields & { readonly event: 'heartbeat'; readonly cursor: number | null })
  | (CommonFields & { readonly event: 'seed_ahead'; readonly seeded: number; readonly current_max: number })
  | (CommonFields & { readonly event: 'replay_capped'; readonly capped_to: number; readonly dropped: number })
  | (CommonFields & { readonly event: 'persona_added' })
  | (CommonFields & {
      readonly event: 'baseline_skipped';
      readonly armed_at: number;
      /** Messages in sight that make no event. */
      readonly skipped: number;
      readonly id_range: readonly [oldest: number, newest: number];
      readonly unread_held: number | 'unknown';
      readonly reason: string;
    })
  /** The store went back: events after that one are known from the event file alone, and what came then may be lost. */
  | (CommonFields & {
      readonly event: 'gap';
      readonly reason: 'store-went-back';
      readonly after: string | null;
      /** The highest message id that was told before. */
      readonly cursor_at: number;
    })
  | (CommonFields & { readonly event: 'state_corrupt'; readonly armed_at: number; readonly reason: string });

/** An observation that is no outage (Kijito contract b). `reason` tells these apart from `unreachable`. */
export type AlarmEvent =
  | {
      readonly event: 'alert';
      readonly reason: 'gap';
      /** Messages left out by the newest page, where the hive said how many. */
      readonly omitted: number | null;
      readonly window_floor: number | null;
      readonly cursor_at: number;
      /** Messages behind the newest page that were got all the same. */
      readonly reconciled: number;
      readonly pinned: true;
    }
  | {
      readonly event: 'alert';
      readonly reason: 'evidence-lost';
      readonly cursor_at: number;
      /** So many spans of delivered messages are no longer remembered: they may come again. */
      readonly forgot: number;
      readonly pinned: true;
      readonly evidence_lost: true;
    }
  | {
      readonly event: 'alert';
      readonly reason: 'unread-not-shown';
      readonly unread_not_shown: number;
      readonly window_floor: number | null;
      readonly cursor_at: number;
      /** Whether any of them lies above the cursor; null: it cannot be told. */
      readonly above_watermark: boolean | null;
    }
  | {
      readonly event: 'alert';
      readonly reason: 'log-restarted';
      /** The cursor in the log of before. */
      readonly cursor_at: number;
      /** The newest id of the log that is there now. */
      readonly current_max: number;
    }
  | HiveAlarmEvent;

/** An observation of a whole hive, told to those of its personas that somebody seems to read (Kijito contract b). */
export type HiveAlarmEvent =
  | {
      readonly event: 'alert';
      readonly reason: 'stranded';
      /** Inboxes with unread mail that nobody was ever seen to read. */
      readonly stranded_inboxes: readonly string[];
      /** Inboxes with unread mail of members that are retired, write-only, or were active once. Absent for none. */
      readonly dormant_inboxes?: readonly string[];
    }
  | {
      readonly event: 'alert';
      readonly reason: 'urgent-unanswered';
      /** Members that hold urgent unread mail and were observed to do nothing. */
      readonly urgent_unanswered: readonly string[];
      /** Likewise, where the mail is collected in another way. Absent for none. */
      readonly urgent_unanswered_write_only?: readonly string[];
    };

export type EventName = Event['event'];

const MAIL: readonly MailName[] = ['new', 'handoff', 'assigned', 'action'];
const CHANGES: readonly ChangeName[] = ['delivered', 'read', 'gone', 'cleared', 'acked'];
/** Names that must never wake an agent; a closed set (Kijito contract b). */
const LIVENESS: ReadonlySet<string> = new Set(['heartbeat', 'armed', ...CHANGES]);

export function isMail(event: Event): event is MailEvent {
  return toWakeClass(event.event) === 'mail';
}

export function toWakeClass(event: string): WakeClass {
  if ((MAIL as readonly string[]).includes(event)) return 'mail';
  return LIVENESS.has(event) ? 'liveness' : 'diagnostic';
}

/** `log`: ids of the inbox began again, and this is the name of the log that they are of; empty for the first. */
export function toMailEventId(persona: PersonaId | null, id: number, event: MailName = 'new', log = ''): string {
  return `${persona ?? '_'}:${event}:${id}${log === '' ? '' : `@${log}`}`;
}

/** The n-th change that is told of what has this id, counted from 1. */
export function toChangeEventId(persona: PersonaId | null, event: ChangeName, id: number, n: number): string {
  return `${persona ?? '_'}:${event}:${id}-${n}`;
}

/** `run` is 16 hex digits drawn once a process, `n` counts from 1 in a watch. */
export function toOtherEventId(persona: PersonaId | null, event: EventName, run: string, n: number): string {
  return `${persona ?? '_'}:${event}:${run}-${n}`;
}
