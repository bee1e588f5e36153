/**
 * What the ids of personas begin with that belong to a source beside the primary hive; a further hive has its name and a
 * hyphen. The only list of them: the sources make their ids from it, the names that a hive may not have are these, and a
 * hook knows by it whose mail comes with an event file.
 */
export const SOURCE_PREFIXES = {
  /** The local hive, where another one is the primary. */
  local: 'local-',
  garden: 'garden-',
  brainclaw: 'bc-',
  daemon: 'daemon-',
} as const;

export type PrefixedSource = keyof typeof SOURCE_PREFIXES;

export const RESERVED_PREFIXES: readonly string[] = Object.values(SOURCE_PREFIXES);
