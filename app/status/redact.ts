import { type Event, eventOf, lineOf } from '../../core/events/index.ts';

/**
 * What may be said of an event without the token: names, numbers and times, no sender and no text (Decision 4). A list of
 * what is allowed, so that a key nobody thought of stays inside.
 */
const OPEN: ReadonlySet<string> = new Set([
  'event',
  'source',
  'ts',
  'id',
  'created',
  'persona',
  'self',
  'cursor',
  'consecutive_failures',
  'seconds',
  'seeded',
  'current_max',
  'capped_to',
  'dropped',
  'event_id',
  'wake_class',
  'nonce',
  'emitted',
]);

/** An event's line as this reader may see it: as it is for the owner, without sender and text for anyone else. */
export function lineFor(line: string, right: 'owner' | 'anyone'): string {
  if (right === 'owner') return line;
  const open = Object.entries(eventOf(line) ?? {}).filter(([key]) => OPEN.has(key));
  return lineOf(Object.fromEntries(open) as unknown as Event).trimEnd();
}
