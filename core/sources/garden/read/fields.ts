import { parseJson } from '../../../model/index.ts';
import { gardenFault } from '../fault.ts';

/** An object that was read from JSON, before anything in it is believed. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * @param what what the text should be, for messages: `meta-record`
 * @throws Fault `garden` when it is no JSON or no object
 */
export function fieldsOf(json: string, what: string): Fields {
  let value: unknown;
  try {
    value = parseJson(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw gardenFault(`${what} is not valid JSON: ${why}`, what, { cause: error });
  }
  return objectIn(value, `${what} must be a JSON object`, what);
}

export function objectIn(value: unknown, rule: string, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw gardenFault(`${rule} (got ${described(value)}).`, what);
}

/** What a value is, for messages: short texts as they are, of anything else the type. */
export function described(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? `string ${JSON.stringify(value)}` : typeof value;
}

export function textIn(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw gardenFault(`meta-record field "${field}" must be a non-empty string (got ${described(value)}).`, field);
}

export function textOrNullIn(value: unknown, field: string): string | null {
  if (value === null || (typeof value === 'string' && value !== '')) return value;
  throw gardenFault(
    `meta-record field "${field}" must be a non-empty string or null (got ${described(value)}).`,
    field,
  );
}

export function booleanIn(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw gardenFault(`meta-record field "${field}" must be a boolean (got ${described(value)}).`, field);
}

/** The value, if it is one of these words. */
export function wordIn<W extends string>(value: unknown, words: readonly W[], field: string): W {
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw gardenFault(`meta-record "${field}" must be one of ${words.join(' | ')} (got ${described(value)}).`, field);
}

/** Refuses keys that are not in the set: such a file is half migrated or of somebody else. */
export function onlyKeys(fields: Fields, allowed: readonly string[], what: string, more = ''): void {
  const stray = Object.keys(fields).filter((key) => !allowed.includes(key));
  if (stray.length === 0) return;
  const named = stray.map((key) => `"${key}"`).join(', ');
  throw gardenFault(`${what} carries unexpected key(s) ${named} (allowed: ${allowed.join(', ')}).${more}`, what);
}
