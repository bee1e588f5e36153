import type { JsonFields } from './record.ts';

/** How many characters of a text are kept. */
export const MOST_TEXT = 4096;
/** How many entries of a list are kept. */
export const MOST_ENTRIES = 100;
/** How many characters of a text in a list are kept. */
const MOST_IN_LIST = 512;

/**
 * A payload as the board keeps it. Long texts and lists are cut, and objects are dropped, except those in lists, which are cut in
 * the same way (brainclaw contract 4). The result keeps nothing of the original line in memory.
 */
export function trimPayload(payload: JsonFields): JsonFields {
  return isSmall(payload)
    ? payload
    : trimFields(payload, MOST_TEXT, (list) => list.slice(0, MOST_ENTRIES).flatMap(trimEntry));
}

/** Whether nothing would be cut or dropped. Most payloads are like that, and copying each would take a third of a replay. */
function isSmall(payload: JsonFields): boolean {
  for (const key in payload) {
    const value = payload[key];
    if (typeof value === 'string') {
      if (value.length > MOST_TEXT) return false;
    } else if (typeof value === 'object' && value !== null) {
      if (key === '__proto__' || !Array.isArray(value) || value.length > MOST_ENTRIES || !value.every(isSmallEntry))
        return false;
    }
  }
  return true;
}

function isSmallEntry(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= MOST_IN_LIST : typeof value !== 'object' || value === null;
}

function trimEntry(value: unknown): unknown[] {
  if (typeof value === 'string') return [shortenText(value, MOST_IN_LIST)];
  if (typeof value !== 'object' || value === null) return [value];
  return Array.isArray(value) ? [] : [trimFields(value as JsonFields, MOST_IN_LIST, () => null)];
}

function trimFields(fields: JsonFields, most: number, list: (entries: unknown[]) => unknown[] | null): JsonFields {
  const trimmedFields: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    if (key === '__proto__') continue;
    const value = fields[key];
    if (typeof value === 'string') trimmedFields[key] = shortenText(value, most);
    else if (typeof value !== 'object' || value === null) trimmedFields[key] = value;
    else if (Array.isArray(value)) {
      const entries = list(value);
      if (entries !== null) trimmedFields[key] = entries;
    }
  }
  return trimmedFields;
}

/**
 * Cuts a text into a separate string: a slice would keep the whole long text in memory. A character that would be cut in two is
 * left out.
 */
export function shortenText(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return Buffer.from(text.slice(0, isHalf ? most - 1 : most), 'utf8').toString('utf8');
}
