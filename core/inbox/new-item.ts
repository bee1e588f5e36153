import { createHash } from 'node:crypto';
import { ITEM_TYPES, type NewItem } from './item.ts';
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
    dedupKey: dedupKey === null ? null : keyOf('dedupKey', dedupKey),
  };
}

/** The key of what one persona has under a key that another persona's item has; too long for a key it is a hash. */
export function keyOfOne(key: string, persona: string): string {
  const own = `${key} for ${persona}`;
  return own.length <= MAX_KEY ? own : `sha256:${createHash('sha256').update(own).digest('hex')}`;
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
