import {
  type AgentState,
  type ChangeName,
  type Extra,
  formatIso,
  type MailName,
  type PersonaId,
} from '../model/index.ts';
import type { ClockReading } from '../ports/index.ts';

/** `mail` wakes an agent and `liveness` must not. `diagnostic` is everything else, also any kind that a reader does not know. */
export type WakeClass = 'mail' | 'liveness' | 'diagnostic';

interface CommonFields {
  /** The kind of inbox system, `kijito-inbox` for every hive. */
  readonly source: string;
  /** When the event was made, in UTC; see `formatIso`. */
  readonly ts: string;
  /** Absent only for a single `--url` target, which has no persona (Kijito spec 14.1). */
  readonly persona?: PersonaId;
  /**
   * `PERSONA:EVENT:ID` for mail, `PERSONA:EVENT:ID-N` for a change, `PERSONA:EVENT:RUN-N` for everything else; `_` stands for no
   * persona.
   * The same message has the same id for ever.
   */
  readonly event_id: string;
  readonly wake_class: WakeClass;
  /** See `computeNonce`. Absent until a sink takes the event, and in lines of earlier versions. */
  readonly nonce?: string;
  /**
   * When the sink took the event; absent in the same cases. An event that is offered again keeps its id and nonce, and gets the
   * time at which it is taken.
   */
  readonly emitted?: EmissionTime;
}

/**
 * New mail, or work that came for the persona. `content` is absent with `--no-content`; it is other agents' text and never an
 * instruction.
 * Keys that only its source knows follow these, see `addExtra`.
 */
export interface MailEvent extends CommonFields {
  readonly event: MailName;
  readonly id: number;
  /** Null for a source with sets, when it does not report a sender. */
  readonly from: string | null;
  /** Null for a source with sets, when it does not report a time. */
  readonly created: string | null;
  readonly content?: string;
  /** The persona wrote this mail itself, so a follower need not wake. Absent otherwise. */
  readonly self?: true;
  /**
   * Hivebar itself says this, such as the answer that a person gave; no sender can set this key.
   * The event needs the agent, and not the person. Absent otherwise.
   */
  readonly origin?: 'hivebar';
}

/** What was delivered under this id changed, or is gone. The event has the further keys of its source as well. */
export interface ChangeEvent extends CommonFields {
  readonly event: ChangeName;
  readonly id: number;
}

/** The events of the Kijito spec 6.1 and 14 as one union: everything that a sink or a follower ever receives. */
export type Event =
  | MailEvent
  | ChangeEvent
  | (CommonFields & { readonly event: 'armed'; readonly cursor: number })
  | (CommonFields & {
      readonly event: 'alert';
      readonly reason: 'unreachable';
      readonly consecutive_failures: number;
      /** Nominal: failures times poll seconds, not a measured time. */
      readonly seconds: number;
    })
  | (CommonFields & AlarmEvent)
  | (CommonFields & { readonly event: 'recovered'; readonly cursor: number | null })
  | (CommonFields & { readonly event: 'heartbeat'; readonly cursor: number | null })
  | (CommonFields & { readonly event: 'seed_ahead'; readonly seeded: number; readonly current_max: number })
  | (CommonFields & { readonly event: 'replay_capped'; readonly capped_to: number; readonly dropped: number })
  | (CommonFields & { readonly event: 'persona_added' })
  | (CommonFields & WaitEvent)
  | (CommonFields & {
      readonly event: 'baseline_skipped';
      readonly armed_at: number;
      /** How many messages of the poll result make no event. */
      readonly skipped: number;
      readonly id_range: readonly [oldest: number, newest: number];
      readonly unread_held: number | 'unknown';
      readonly reason: string;
    })
  /**
   * The store went back to an older state. The events after `after` are known from the event file alone, and messages that came
   * then may be lost.
   */
  | (CommonFields & {
      readonly event: 'gap';
      readonly reason: 'store-went-back';
      readonly after: string | null;
      /** The highest message id that was delivered before. */
      readonly cursor_at: number;
    })
  | (CommonFields & { readonly event: 'state_corrupt'; readonly armed_at: number; readonly reason: string });

/** The agent of the persona waits for a person, once per wait, and waits no longer. These wake no agent. */
export type WaitEvent =
  | {
      readonly event: 'waiting';
      /** What it waits for: a `WaitReason`, or a text of whoever reports it. */
      readonly reason: string;
      /** When the wait began, in the format of `ts`; absent when unknown, like the keys below. */
      readonly since?: string;
      readonly cwd?: string;
    }
  | {
      readonly event: 'resumed';
      /** What it waited for. */
      readonly reason: string;
      /** What it does now. After `waiting` it waits again, for something else. */
      readonly agent: AgentState['is'];
      readonly waited_ms?: number;
      readonly cwd?: string;
    };

/** An observation that is no outage (Kijito contract b). `reason` tells these alerts apart from `unreachable`. */
export type AlarmEvent =
  | {
      readonly event: 'alert';
      readonly reason: 'gap';
      /** How many messages the newest page left out; null when the hive did not say. */
      readonly omitted: number | null;
      readonly window_floor: number | null;
      readonly cursor_at: number;
      /** How many messages beyond the newest page were fetched all the same. */
      readonly reconciled: number;
      readonly pinned: true;
    }
  | {
      readonly event: 'alert';
      readonly reason: 'evidence-lost';
      readonly cursor_at: number;
      /** How many id ranges of delivered messages are no longer remembered. Those messages may be delivered again. */
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
      /** Whether any of these messages is above the cursor; null when it cannot be known. */
      readonly above_watermark: boolean | null;
    }
  | {
      readonly event: 'alert';
      readonly reason: 'log-restarted';
      /** The cursor in the log before the restart. */
      readonly cursor_at: number;
      /** The newest id of the current log. */
      readonly current_max: number;
    }
  | HiveAlarmEvent;

/** An observation of a whole hive, sent to those of its personas that somebody seems to read (Kijito contract b). */
export type HiveAlarmEvent =
  | {
      readonly event: 'alert';
      readonly reason: 'stranded';
      /** Inboxes with unread mail that nobody was ever seen to read. */
      readonly stranded_inboxes: readonly string[];
      /** Inboxes with unread mail whose members are retired, write-only, or were active once. Absent for none. */
      readonly dormant_inboxes?: readonly string[];
    }
  | {
      readonly event: 'alert';
      readonly reason: 'urgent-unanswered';
      /** Members that hold urgent unread mail and were observed to do nothing. */
      readonly urgent_unanswered: readonly string[];
      /** The same for members whose mail is collected in another way. Absent for none. */
      readonly urgent_unanswered_write_only?: readonly string[];
    };

export type EventName = Event['event'];

const MAIL: readonly MailName[] = ['new', 'handoff', 'assigned', 'action', 'question'];
const CHANGES: readonly ChangeName[] = ['delivered', 'read', 'gone', 'cleared', 'acked'];
/** Names that must never wake an agent; a closed set (Kijito contract b). */
const LIVENESS: ReadonlySet<string> = new Set(['heartbeat', 'armed', ...CHANGES]);

export function isMail(event: Event): event is MailEvent {
  return toWakeClass(event.event) === 'mail';
}

/** Whether this event is about what the agent does itself. It wakes nobody, because the only one to wake is the agent. */
export function isAboutAgent({ event }: Pick<Event, 'event'>): boolean {
  return event === 'waiting' || event === 'resumed';
}

export function toWakeClass(event: string): WakeClass {
  if ((MAIL as readonly string[]).includes(event)) return 'mail';
  return LIVENESS.has(event) ? 'liveness' : 'diagnostic';
}

/** The event id of mail. `log` names the current log when the ids of the inbox began again; it is empty for the first log. */
export function toMailEventId(persona: PersonaId | null, id: number, event: MailName = 'new', log = ''): string {
  return `${persona ?? '_'}:${event}:${id}${log === '' ? '' : `@${log}`}`;
}

/** The event id of the n-th change that is delivered of the thing with this id. `n` counts from 1. */
export function toChangeEventId(persona: PersonaId | null, event: ChangeName, id: number, n: number): string {
  return `${persona ?? '_'}:${event}:${id}-${n}`;
}

/** The event id of any other event. `run` is 16 hex digits drawn once per process; `n` counts from 1 per watcher. */
export function toOtherEventId(persona: PersonaId | null, event: EventName, run: string, n: number): string {
  return `${persona ?? '_'}:${event}:${run}-${n}`;
}

/** Keys that mean the same in every event, whether an event has them or not. */
const COMMON: ReadonlySet<string> = new Set([
  ...['event', 'source', 'ts', 'id', 'from', 'created', 'persona', 'self', 'origin', 'content'],
  ...['event_id', 'wake_class', 'nonce', 'emitted'],
]);

/** Adds the keys that only the source knows to an event. Keys that every event may have are skipped. */
export function addExtra<E extends Event>(event: E, extra: Extra): E {
  const own = Object.entries(extra).filter(([key]) => !COMMON.has(key) && !Object.hasOwn(event, key));
  return own.length === 0 ? event : { ...event, ...Object.fromEntries(own) };
}

/**
 * When a sink took an event, by every clock that the machine has (Kijito contract b). A clock it does not have is absent, never
 * faked.
 */
export interface EmissionTime {
  /** In the format of `ts`. */
  readonly wall: string;
  /** Seconds with six decimals. This clock stands still while the machine sleeps. */
  readonly monotonic?: number;
  /** Seconds with six decimals. This clock runs on while the machine sleeps. */
  readonly boottime?: number;
  /** The platform's names of the clocks that were read; clocks that are absent here are not named. */
  readonly src: { readonly monotonic?: string; readonly boottime?: string };
  /** A reading of `boottime` that was behind `monotonic`, which is impossible. It stands here instead of in `boottime`. */
  readonly clock_defect?: { readonly boottime: number; readonly src: string };
}

export function toEmissionTime({ wall, monotonic, boottime }: ClockReading): EmissionTime {
  const isDefect = monotonic !== null && boottime !== null && boottime.seconds < monotonic.seconds;
  const sound = isDefect ? null : boottime;
  return {
    wall: formatIso(wall),
    ...(monotonic !== null && { monotonic: monotonic.seconds }),
    ...(sound !== null && { boottime: sound.seconds }),
    src: {
      ...(monotonic !== null && { monotonic: monotonic.src }),
      ...(sound !== null && { boottime: sound.src }),
    },
    ...(isDefect && { clock_defect: { boottime: boottime.seconds, src: boottime.src } }),
  };
}

const SUBJECT_CHARS = 200;
/** A longer link is left out: a part of it would lead elsewhere. */
const LINK_CHARS = 2000;

/** The keys of an event that any source may set for the surfaces, as the event has them. */
export interface MailExtras {
  readonly subject: string;
  readonly link: string | null;
}

/** How urgent the source of a mail says it is. */
export interface MailUrgency {
  readonly isUrgent: boolean;
  /** 0 (critical) to 4 (bulk); null where the source has no such numbers. */
  readonly priority: number | null;
}

/** Reads `urgent` and `priority` of an event. A value of another kind counts as none. */
export function readMailUrgency(event: MailEvent): MailUrgency {
  const { urgent, priority } = event as MailEvent & { readonly urgent?: unknown; readonly priority?: unknown };
  const level = typeof priority === 'number' && [0, 1, 2, 3, 4].includes(priority) ? priority : null;
  return { isUrgent: urgent === true || priority === 'urgent' || (level !== null && level <= 1), priority: level };
}

/** Reads `subject` and `link` of an event. A value of another kind counts as none. */
export function readMailExtras(event: MailEvent): MailExtras {
  const { subject, link } = event as MailEvent & { readonly subject?: unknown; readonly link?: unknown };
  return {
    subject: typeof subject === 'string' ? subject.slice(0, SUBJECT_CHARS) : '',
    link: typeof link === 'string' && link !== '' && link.length <= LINK_CHARS ? link : null,
  };
}
