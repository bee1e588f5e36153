import {
  addExtra,
  type ChangeEvent,
  type Event,
  type MailEvent,
  toChangeEventId,
  toMailEventId,
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
} from '../model/index.ts';
import type { SetMove } from './set-diff.ts';
import type { WatcherRules } from './watcher-state.ts';

/** The event of a message, and what to change in the checkpoint once the sink has acknowledged the event. */
export interface BatchMessage {
  readonly event: Event;
  /** For a log: the id of the message. */
  readonly id: number | null;
  /** For a set: the change to the known items. */
  readonly move: SetMove | null;
}

/** Returns the fields that every event has. */
export function toCommonFields(rules: WatcherRules, at: Instant, name: Event['event'], eventId: string) {
  return {
    source: rules.source,
    ts: formatIso(at),
    ...(rules.persona === null ? {} : { persona: rules.persona }),
    event_id: eventId,
    wake_class: toWakeClass(name),
  };
}

/** The fields that both a message of a log and an item of a set with its `seq` have. */
type MessageFields = Pick<MailEvent, 'id' | 'from' | 'created' | 'origin'> & { readonly content: string | null };

export function toMailEvent(
  { id, from, created, content, origin }: MessageFields,
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
  if (from !== null && rules.address !== '' && isSameName(from, rules.address)) event.self = true;
  if (origin !== undefined) event.origin = origin;
  if (content !== null) event.content = content;
  return event;
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
