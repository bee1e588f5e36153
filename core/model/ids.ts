/** One addressable agent identity with an inbox, unique in Hivebar; it names the persona's files. */
export type PersonaId = string;

/** One configured inbox system, for example `kijito` or `local`; also a prefix of its personas' ids unless it is the primary hive. */
export type SourceId = string;
