import { type Event, formatEventJson } from '../../events/index.ts';
import type { PersonaId } from '../../model/index.ts';
import { crc32 } from '../../state/index.ts';

/** An event as the table stores it. Rows of an earlier version have no checksum. */
export interface SummedRow {
  readonly seq: number;
  readonly persona: PersonaId;
  readonly eventId: string;
  readonly line: string;
  readonly sum: number | null;
}

const BETWEEN = '\u0000';

/** Computes the checksum of an outbox row, so that a row that the disk changed is never delivered as it is. */
export function computeEventSum(seq: number, persona: PersonaId, eventId: string, line: string): number {
  return crc32([seq, persona, eventId, line].join(BETWEEN));
}

/** Computes the checksum of the saved state of a watcher. */
export function computeSavedSum(persona: PersonaId, saved: string): number {
  return crc32([persona, saved].join(BETWEEN));
}

export function isWholeRow({ seq, persona, eventId, line, sum }: SummedRow): boolean {
  return sum === null || sum === computeEventSum(seq, persona, eventId, line);
}

/** Formats the line that replaces a damaged event. It reports that there was an event, and nothing of its current content. */
export function formatDamagedLine({ persona, eventId }: Pick<SummedRow, 'persona' | 'eventId'>): string {
  const event = {
    event: 'damaged',
    source: 'hivebar',
    persona,
    reason: 'the event does not match its checksum: what it said is lost',
    event_id: eventId,
    wake_class: 'diagnostic',
  } as unknown as Event; // only readers see this event; they treat it like any unknown kind
  return formatEventJson(event);
}
