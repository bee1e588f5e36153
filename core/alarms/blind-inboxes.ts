import type { PersonaId } from '../model/index.ts';

/** Why the content of an inbox is unknown. The words follow the name of the inbox. */
export type Blindness =
  | 'was not read'
  | 'has mail that could not be had'
  | 'has mail that was not taken'
  | 'is not watched';

/** What is known of a watched inbox. */
export interface WatchedInbox {
  readonly persona: { readonly id: PersonaId; readonly address: string };
  /** Null here and in `retryAt`: its last poll was complete and acknowledged, unless it is being delivered right now. */
  readonly walkAt: number | null;
  readonly retryAt: number | null;
  readonly isDelivering: boolean;
}

/**
 * Finds the inboxes that cannot prove a silence now, by address. A silent persona may have written there, so with one
 * such inbox no silence of the hive is observed (Kijito contract, trap 50).
 * @param members every address in the directory
 */
export function findBlind(
  watched: ReadonlyMap<string, WatchedInbox>,
  unread: ReadonlySet<PersonaId>,
  members: Iterable<string>,
): ReadonlyMap<string, Blindness> {
  const blind = new Map<string, Blindness>();
  for (const [address, { persona, walkAt, retryAt, isDelivering }] of watched) {
    if (unread.has(persona.id)) blind.set(address, 'was not read');
    else if (walkAt !== null) blind.set(address, 'has mail that could not be had');
    else if (retryAt !== null || isDelivering) blind.set(address, 'has mail that was not taken');
  }
  for (const address of members) if (!watched.has(address)) blind.set(address, 'is not watched');
  return blind;
}

/** The maximum number of inboxes that one line names. */
const MOST_NAMED = 3;

/** Formats the inboxes for a person: `cy was not read, di is not watched, and 4 more like these`. */
export function formatBlind(blind: ReadonlyMap<string, string>): string {
  const named = [...blind].slice(0, MOST_NAMED).map(([name, why]) => `${name} ${why}`);
  const unnamedCount = blind.size - named.length;
  return [...named, ...(unnamedCount > 0 ? [`and ${unnamedCount} more like these`] : [])].join(', ');
}
