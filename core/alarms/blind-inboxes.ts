import type { PersonaId } from '../model/index.ts';

/** Why nothing can be said of what lies in an inbox; reads after its name. */
export type Blindness =
  | 'was not read'
  | 'has mail that could not be had'
  | 'has mail that was not taken'
  | 'is not watched';

/** What is known of a watched inbox. */
export interface WatchedInbox {
  readonly persona: { readonly id: PersonaId; readonly address: string };
  /** Null: everything of its last look was had, and taken, if it is not being told just now. */
  readonly walkAt: number | null;
  readonly retryAt: number | null;
  readonly isDelivering: boolean;
}

/**
 * The inboxes that vouch for nothing now, by address. Whoever is silent may have written there: with one of these no
 * silence of the hive is observed (Kijito contract, trap 50).
 *
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

/** Inboxes in one line of words. */
const MOST_NAMED = 3;

/** As a person reads it: `cy was not read, di is not watched, and 4 more like these`. */
export function formatBlind(blind: ReadonlyMap<string, string>): string {
  const named = [...blind].slice(0, MOST_NAMED).map(([name, why]) => `${name} ${why}`);
  const unnamedCount = blind.size - named.length;
  return [...named, ...(unnamedCount > 0 ? [`and ${unnamedCount} more like these`] : [])].join(', ');
}
