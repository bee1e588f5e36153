import { ITEM_TYPES, type NewItem, OWN_KEYS } from './item.ts';
import { contentOf, nameOf, usage } from './mail.ts';

/** Longest session id or dedup key, in characters. */
const MAX_KEY = 500;

/**
 * An item as somebody pushes it, checked, with whole milliseconds. A lone surrogate in the text becomes U+FFFD.
 *
 * @throws Fault `usage`, naming the field and its value.
 */
export function checkedItem(item: NewItem): NewItem {
  const { to, type, source, content, priority, session, created, expires, dedupKey } = item;
  if (!ITEM_TYPES.includes(type)) throw usage(`"type" must be one of ${ITEM_TYPES.join(', ')}`, type);
  if (![0, 1, 2, 3, 4].includes(priority)) throw usage('"priority" must be 0, 1, 2, 3 or 4', priority);
  if (to.is === 'everyone' && session !== null)
    throw usage('a broadcast is for no session: leave "session" out', session);
  return {
    to: to.is === 'persona' ? { is: 'persona', name: nameOf('to', to.name) } : { is: 'everyone' },
    type,
    source: nameOf('source', source),
    content: contentOf(content),
    priority,
    session: session === null ? null : keyOf('session', session),
    created: millisOf('created', created),
    expires: expires === null ? null : millisOf('expires', expires),
    dedupKey: dedupKey === null ? null : foreignKey(keyOf('dedupKey', dedupKey)),
  };
}

function foreignKey(key: string): string {
  if (isOwnKey(key))
    throw usage(`"dedupKey" must not begin with ${OWN_KEYS}, which is for what Hivebar itself says`, key);
  return key;
}

/** Whether only Hivebar itself may use this key. */
export function isOwnKey(key: string): boolean {
  return key.slice(0, OWN_KEYS.length).toLowerCase() === OWN_KEYS;
}

/** A key as another machine may give it: one that only Hivebar itself may use here gets another beginning. */
export function toForeignKey(key: string): string {
  return isOwnKey(key) ? `foreign:${key}` : key;
}

function keyOf(field: string, value: string): string {
  if (value === '' || value.length > MAX_KEY || !value.isWellFormed()) {
    throw usage(`"${field}" must be text of 1 to ${MAX_KEY} characters`, value);
  }
  return value;
}

function millisOf(field: string, value: number): number {
  const millis = Math.floor(value);
  if (!Number.isSafeInteger(millis)) throw usage(`"${field}" must be an instant in milliseconds`, value);
  return millis;
}
