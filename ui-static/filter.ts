import type { PersonaWire } from '../app/status/wire.ts';

/** The filter and search of inboxes. Pure. */

export const FILTERS = ['all', 'waiting', 'urgent', 'unread', 'down', 'muted', 'hidden'] as const;
export type Filter = (typeof FILTERS)[number];

export interface FilterQuery {
  readonly filter: Filter;
  /** The search text as typed. */
  readonly text: string;
}

/** A hidden persona only matches `hidden`, whatever its state. */
export function isInFilter(persona: PersonaWire, filter: Filter): boolean {
  if (persona.hidden || filter === 'hidden') return persona.hidden && filter === 'hidden';
  switch (filter) {
    case 'all':
      return true;
    case 'waiting':
      return persona.agent === 'waiting' || (persona.questions ?? 0) > 0;
    case 'urgent':
      return (persona.urgent ?? 0) > 0;
    case 'unread':
      return (persona.unread ?? 0) > 0;
    case 'down':
      return persona.state === 'DOWN';
    case 'muted':
      return persona.muted !== null;
  }
}

/** Every word must occur in the label, the id or the source, in any case. */
export function isMatch(persona: PersonaWire, { filter, text }: FilterQuery): boolean {
  if (!isInFilter(persona, filter)) return false;
  const hay = `${persona.label}\n${persona.id}\n${persona.source}`.toLowerCase();
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => hay.includes(word));
}
