import type { JsonFields } from './record.ts';

/** Characters of a text that are kept. */
export const MOST_TEXT = 4096;
/** Entries of a list that are kept. */
export const MOST_ENTRIES = 100;
/** Characters of a text in a list that are kept. */
const MOST_IN_LIST = 512;

/**
 * A payload as the board keeps it: long texts and lists cut, objects in it dropped; of a list the objects are kept, cut
 * in the same way (brainclaw contract 4). What is left holds on to nothing of the line it came from.
 */
export function trimPayload(payload: JsonFields): JsonFields {
  return isSmall(payload)
    ? payload
    : trimFields(payload, MOST_TEXT, (list) => list.slice(0, MOST_ENTRIES).flatMap(trimEntry));
}

/** Nothing of it would be cut or dropped: most payloads are so, and a copy of each would take a third of a replay. */
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

/** A text of its own: a slice would keep all of the long one in memory. A character that is cut in two is left out. */
export function shortenText(text: string, most: number): string {
  if (text.length <= most) return text;
  const isHalf = (text.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return Buffer.from(text.slice(0, isHalf ? most - 1 : most), 'utf8').toString('utf8');
}
