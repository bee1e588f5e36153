/** One addressable agent identity with an inbox. The id is unique in Hivebar and names the persona's files. */
export type PersonaId = string;

/**
 * One configured inbox system, such as `kijito` or `local`. It also prefixes the ids of its personas, except for the
 * primary hive.
 */
export type SourceId = string;

/** How ids of personas of the local hive begin, where another hive is the primary one. */
export const LOCAL_PREFIX = 'local-';
