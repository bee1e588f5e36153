/**
 * The prefixes of persona ids from sources other than the primary hive. A further hive uses its name and a hyphen. This
 * is the only list: sources make their ids from it, hives may not use these names, and a hook uses it to find the
 * source of an event file.
 */
export const SOURCE_PREFIXES = {
  /** The local hive, when another hive is the primary hive. */
  local: 'local-',
  garden: 'garden-',
  brainclaw: 'bc-',
  daemon: 'daemon-',
} as const;

export type PrefixedSource = keyof typeof SOURCE_PREFIXES;

export const RESERVED_PREFIXES: readonly string[] = Object.values(SOURCE_PREFIXES);
