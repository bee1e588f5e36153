import { type Event, type FollowedLine, formatEventJson } from '../../core/events/index.ts';
import { formatIso, type Instant, type PersonaId } from '../../core/model/index.ts';

/** One event on its way to its agent. */
export interface FollowItem {
  readonly event: Event;
  /** The line as it stands in the event file. */
  readonly raw: string;
  /** How far the agent has come once it has this one: to it, or to what follows it and wakes nobody. Null: no place. */
  readonly upTo: FollowedLine | null;
}

/** That events may be missing, as an event of our own: it has no place in the file, and the same id each time it is told. */
export function createGapItem(persona: PersonaId, after: string | null, now: Instant): FollowItem {
  const event = {
    event: 'gap',
    source: 'hivebar',
    ts: formatIso(now),
    persona,
    reason: 'events may be missing: their file was rotated away before it was read',
    after,
    event_id: `${persona}:gap:${after ?? 'begin'}`,
    wake_class: 'diagnostic',
  } as unknown as Event; // a kind that only followers see; to them it is like any kind they do not know
  return { event, raw: formatEventJson(event), upTo: null };
}
