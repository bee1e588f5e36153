import { parseJson } from '../../../model/index.ts';
import { createGardenFault } from '../fault.ts';

/** An object parsed from JSON, before its fields are checked. */
export type GardenFields = Readonly<Record<string, unknown>>;

/**
 * Parses a JSON object.
 * @param subject what the text should be, for messages: `meta-record`
 * @throws Fault `garden` when it is no JSON or no object
 */
export function parseFields(json: string, subject: string): GardenFields {
  let value: unknown;
  try {
    value = parseJson(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw createGardenFault(`${subject} is not valid JSON: ${why}`, subject, { cause: error });
  }
  return requireObject(value, `${subject} must be a JSON object`, subject);
}

export function requireObject(value: unknown, rule: string, subject: string): GardenFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as GardenFields;
  throw createGardenFault(`${rule} (got ${describeValue(value)}).`, subject);
}

/** Describes a value for messages: a text as it is, anything else by its type. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? `string ${JSON.stringify(value)}` : typeof value;
}

export function requireText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw createGardenFault(
    `meta-record field "${field}" must be a non-empty string (got ${describeValue(value)}).`,
    field,
  );
}

export function requireTextOrNull(value: unknown, field: string): string | null {
  if (value === null || (typeof value === 'string' && value !== '')) return value;
  throw createGardenFault(
    `meta-record field "${field}" must be a non-empty string or null (got ${describeValue(value)}).`,
    field,
  );
}

export function requireBoolean(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw createGardenFault(`meta-record field "${field}" must be a boolean (got ${describeValue(value)}).`, field);
}

/** Returns the value if it is one of these words. @throws Fault `garden` */
export function requireWord<W extends string>(value: unknown, words: readonly W[], field: string): W {
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  throw createGardenFault(
    `meta-record "${field}" must be one of ${words.join(' | ')} (got ${describeValue(value)}).`,
    field,
  );
}

/** Refuses keys that are not allowed: such a file is half migrated or belongs to another program. */
export function requireOnlyKeys(fields: GardenFields, allowed: readonly string[], subject: string, hint = ''): void {
  const stray = Object.keys(fields).filter((key) => !allowed.includes(key));
  if (stray.length === 0) return;
  const named = stray.map((key) => `"${key}"`).join(', ');
  throw createGardenFault(
    `${subject} carries unexpected key(s) ${named} (allowed: ${allowed.join(', ')}).${hint}`,
    subject,
  );
}
