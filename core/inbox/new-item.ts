import { ITEM_TYPES, type NewItem, OWN_KEYS } from './item.ts';
import { createUsageFault, parseContent, parseName } from './mail.ts';

/** Longest session id or dedup key, in characters. */
const MAX_KEY = 500;

/**
 * Checks an item that somebody pushes, and rounds times to whole milliseconds. A lone surrogate in the text becomes U+FFFD.
 *
 * @throws Fault `usage`, naming the field and its value.
 */
export function checkItem(item: NewItem): NewItem {
  const { to, type, source, content, priority, session, created, expires, dedupKey } = item;
  if (!ITEM_TYPES.includes(type)) throw createUsageFault(`"type" must be one of ${ITEM_TYPES.join(', ')}`, type);
  if (![0, 1, 2, 3, 4].includes(priority)) throw createUsageFault('"priority" must be 0, 1, 2, 3 or 4', priority);
  if (to.is === 'everyone' && session !== null)
    throw createUsageFault('a broadcast is for no session: leave "session" out', session);
  return {
    to: to.is === 'persona' ? { is: 'persona', name: parseName('to', to.name) } : { is: 'everyone' },
    type,
    source: parseName('source', source),
    content: parseContent(content),
    priority,
    session: session === null ? null : parseKey('session', session),
    created: parseMillis('created', created),
    expires: expires === null ? null : parseMillis('expires', expires),
    dedupKey: dedupKey === null ? null : checkForeignKey(parseKey('dedupKey', dedupKey)),
  };
}

function checkForeignKey(key: string): string {
  if (isOwnKey(key))
    throw createUsageFault(`"dedupKey" must not begin with ${OWN_KEYS}, which is for what Hivebar itself says`, key);
  return key;
}

/** Whether only Hivebar itself may use this key. */
export function isOwnKey(key: string): boolean {
  return key.slice(0, OWN_KEYS.length).toLowerCase() === OWN_KEYS;
}

/** Renames a key from another machine if only Hivebar itself may use it here: it gets the prefix `foreign:`. */
export function toForeignKey(key: string): string {
  return isOwnKey(key) ? `foreign:${key}` : key;
}

function parseKey(field: string, value: string): string {
  if (value === '' || value.length > MAX_KEY || !value.isWellFormed()) {
    throw createUsageFault(`"${field}" must be text of 1 to ${MAX_KEY} characters`, value);
  }
  return value;
}

function parseMillis(field: string, value: number): number {
  const millis = Math.floor(value);
  if (!Number.isSafeInteger(millis)) throw createUsageFault(`"${field}" must be an instant in milliseconds`, value);
  return millis;
}
