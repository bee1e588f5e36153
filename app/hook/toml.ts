import { parse } from 'smol-toml';

/**
 * Parses TOML, as far as settings of Codex say something about hooks.
 *
 * @returns null for a text that is not TOML; the harness reports that itself
 */
export function parseToml(text: string): object | null {
  try {
    return parse(text.replace(/^\ufeff/, ''), { integersAsBigInt: 'asNeeded' });
  } catch {
    return null; // see above
  }
}

/** Returns the value at a path of keys; undefined when there is none. */
export function findTomlValue(table: object, ...path: readonly string[]): unknown {
  let value: unknown = table;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
