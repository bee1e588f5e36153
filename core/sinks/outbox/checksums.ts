import { type Event, formatEventJson } from '../../events/index.ts';
import type { PersonaId } from '../../model/index.ts';
import { crc32 } from '../../state/index.ts';

/** An event as the table has it. A row of an earlier version has no checksum. */
export interface SummedRow {
  readonly seq: number;
  readonly persona: PersonaId;
  readonly eventId: string;
  readonly line: string;
  readonly sum: number | null;
}

const BETWEEN = '\u0000';

/** The checksum of a row of the outbox: what the disk changed is never told as what happened. */
export function computeEventSum(seq: number, persona: PersonaId, eventId: string, line: string): number {
  return crc32([seq, persona, eventId, line].join(BETWEEN));
}

/** The checksum of what a watch wants remembered. */
export function computeSavedSum(persona: PersonaId, saved: string): number {
  return crc32([persona, saved].join(BETWEEN));
}

export function isWholeRow({ seq, persona, eventId, line, sum }: SummedRow): boolean {
  return sum === null || sum === computeEventSum(seq, persona, eventId, line);
}

/** What is told in the place of an event that is not whole: that there was one, and nothing of what it says now. */
export function formatDamagedLine({ persona, eventId }: Pick<SummedRow, 'persona' | 'eventId'>): string {
  const event = {
    event: 'damaged',
    source: 'hivebar',
    persona,
    reason: 'the event does not match its checksum: what it said is lost',
    event_id: eventId,
    wake_class: 'diagnostic',
  } as unknown as Event; // a kind that only readers see; to them it is like any kind they do not know
  return formatEventJson(event);
}
