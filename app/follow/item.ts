import { type Event, type FollowedLine, textOf } from '../../core/events/index.ts';
import { type Instant, isoOf, type PersonaId } from '../../core/model/index.ts';

/** One event on its way to its agent. */
export interface Item {
  readonly event: Event;
  /** The line as it stands in the event file. */
  readonly raw: string;
  /** How far the agent has come once it has this one: to it, or to what follows it and wakes nobody. Null: no place. */
  readonly upTo: FollowedLine | null;
}

/** That events may be missing, as an event of our own: it has no place in the file, and the same id each time it is told. */
export function gapItem(persona: PersonaId, after: string | null, now: Instant): Item {
  const event = {
    event: 'gap',
    source: 'hivebar',
    ts: isoOf(now),
    persona,
    reason: 'events may be missing: their file was rotated away before it was read',
    after,
    event_id: `${persona}:gap:${after ?? 'begin'}`,
    wake_class: 'diagnostic',
  } as unknown as Event; // a kind that only followers see; to them it is like any kind they do not know
  return { event, raw: textOf(event), upTo: null };
}
