/** One addressable agent identity with an inbox. The id is unique in Hivebar and names the persona's files. */
export type PersonaId = string;

/**
 * One configured inbox system, such as `kijito` or `local`. It also prefixes the ids of its personas, except for the
 * primary hive.
 */
export type SourceId = string;

/** The ids of the personas of one source: all that begin with a prefix, or those of a form, in lower case. */
export type OwnIds = string | RegExp;

/** Returns whether a source with these ids makes this one, in any spelling. */
export function isOwnId(ids: OwnIds, id: string): boolean {
  const folded = id.toLowerCase();
  return typeof ids === 'string' ? folded.startsWith(ids) : ids.test(folded);
}

/** How ids of personas of the local hive begin, where another hive is the primary one. */
export const LOCAL_PREFIX = 'local-';

/**
 * Returns a form that all spellings of a name share: lower case and one Unicode form. Use it to compare, never to show
 * or store.
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Returns whether two names mean the same persona. Mail to oneself in another spelling is still mail to oneself. */
export function isSameName(a: string, b: string): boolean {
  return a === b || foldName(a) === foldName(b);
}
