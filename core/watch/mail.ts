import {
  type ChangeEvent,
  changeEventId,
  type Event,
  type NewEvent,
  newEventId,
  wakeClassOf,
  withExtra,
} from '../events/index.ts';
import {
  type ChangeName,
  type Extra,
  type Instant,
  isoOf,
  type Known,
  type MailName,
  sameName,
} from '../model/index.ts';
import type { Move } from './diff.ts';
import type { Rules } from './state.ts';

/** An event of a message, and what is done with it once the sink has it. */
export interface Mail {
  readonly event: Event;
  /** Of a log: the row's. */
  readonly id: number | null;
  /** Of a set: what is remembered then. */
  readonly move: Move | null;
}

/** What every event has. */
export function common(rules: Rules, at: Instant, name: Event['event'], eventId: string) {
  return {
    source: rules.source,
    ts: isoOf(at),
    ...(rules.persona === null ? {} : { persona: rules.persona }),
    event_id: eventId,
    wake_class: wakeClassOf(name),
  };
}

/** A row of a log fits, and so does a thing of a set with its `seq`. */
type Message = Pick<NewEvent, 'id' | 'from' | 'created' | 'origin'> & { readonly content: string | null };

export function mailEvent(
  { id, from, created, content, origin }: Message,
  rules: Rules,
  at: Instant,
  name: MailName = 'new',
  log = '',
): NewEvent {
  const event: { -readonly [K in keyof NewEvent]: NewEvent[K] } = {
    event: name,
    source: rules.source,
    ts: isoOf(at),
    event_id: newEventId(rules.persona, id, name, log),
    wake_class: wakeClassOf(name),
    id,
    from,
    created,
  };
  if (rules.persona !== null) event.persona = rules.persona;
  if (from !== null && rules.address !== '' && sameName(from, rules.address)) event.self = true;
  if (origin !== undefined) event.origin = origin;
  if (content !== null) event.content = content;
  return event;
}

/** Its id is the same when it is offered again, and another one when the thing changes to the same once more. */
export function changeEvent(
  name: ChangeName,
  seq: number,
  { changes }: Known,
  extra: Extra,
  rules: Rules,
  at: Instant,
): ChangeEvent {
  const head = common(rules, at, name, changeEventId(rules.persona, name, seq, changes + 1));
  return withExtra({ ...head, event: name, id: seq }, extra);
}
