import { type Event, formatEventLine, parseEventLine } from '../../core/events/index.ts';

/**
 * The keys of an event that may be shown without the token: names, numbers and times, but no sender and no text (Decision 4). It
 * lists what is allowed, so that a key nobody thought of stays hidden.
 */
const OPEN: ReadonlySet<string> = new Set([
  'event',
  'source',
  'ts',
  'id',
  'created',
  'persona',
  'self',
  'origin',
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

/** Further keys that are allowed in an alert. Its `reason` is one of a few words, not free text as in other events. */
const OPEN_IN_ALERTS: ReadonlySet<string> = new Set([
  'reason',
  'omitted',
  'window_floor',
  'cursor_at',
  'reconciled',
  'pinned',
  'forgot',
  'evidence_lost',
  'unread_not_shown',
  'above_watermark',
  'stranded_inboxes',
  'dormant_inboxes',
  'urgent_unanswered',
  'urgent_unanswered_write_only',
]);

/** Returns the line of an event as this reader may see it: unchanged for the owner, without sender and text for anyone else. */
export function redactLine(line: string, right: 'owner' | 'anyone'): string {
  if (right === 'owner') return line;
  const event = parseEventLine(line);
  const isOpen = (key: string): boolean => OPEN.has(key) || (event?.event === 'alert' && OPEN_IN_ALERTS.has(key));
  const open = Object.entries(event ?? {}).filter(([key]) => isOpen(key));
  return formatEventLine(Object.fromEntries(open) as unknown as Event).trimEnd();
}
