import { type Event, type FollowedLine, formatEventJson } from '../../core/events/index.ts';
import { formatIso, type Instant, type PersonaId } from '../../core/model/index.ts';

/** One event on its way to its agent. */
export interface FollowItem {
  readonly event: Event;
  /** The line as it is in the event file. */
  readonly raw: string;
  /**
   * How far the agent has come once it has this event: to the event itself, or to later lines that wake nobody. Null: the event
   * has no place in the file.
   */
  readonly upTo: FollowedLine | null;
}

/**
 * Creates an event of our own which says that events may be missing. It has no place in the file, and the same id each time.
 */
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
  } as unknown as Event; // a kind that only followers see; they treat it like any unknown kind
  return { event, raw: formatEventJson(event), upTo: null };
}
