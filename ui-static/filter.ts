import type { PersonaWire } from '../app/status/wire.ts';

/** Which inboxes a person wants to look at. Pure. */

export const FILTERS = ['all', 'unread', 'down', 'muted', 'hidden'] as const;
export type Filter = (typeof FILTERS)[number];

export interface FilterQuery {
  readonly filter: Filter;
  /** As typed. */
  readonly text: string;
}

/** Whoever is hidden is found under `hidden` only, however it stands. */
export function isInFilter(persona: PersonaWire, filter: Filter): boolean {
  if (persona.hidden || filter === 'hidden') return persona.hidden && filter === 'hidden';
  switch (filter) {
    case 'all':
      return true;
    case 'unread':
      return (persona.unread ?? 0) > 0;
    case 'down':
      return persona.state === 'DOWN';
    case 'muted':
      return persona.muted !== null;
  }
}

/** Every word has to stand in the label, the id or the source, in any case. */
export function isMatch(persona: PersonaWire, { filter, text }: FilterQuery): boolean {
  if (!isInFilter(persona, filter)) return false;
  const hay = `${persona.label}\n${persona.id}\n${persona.source}`.toLowerCase();
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => hay.includes(word));
}
