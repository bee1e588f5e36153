import { displayJson, displayName } from '../format/index.ts';
import { Fault, type Instant } from '../model/index.ts';
import { ITEM_TYPES, type NewItem, OWN_KEYS, parsePriority, parseTtl, parseType } from './item.ts';

/** Longest session id or dedup key, in characters. */
export const MAX_KEY = 500;

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
    throw createUsageFault('a broadcast cannot be for one session: leave "session" out', session);
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
    throw createUsageFault(`"dedupKey" must not begin with ${OWN_KEYS}, which is reserved for Hivebar`, key);
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
  if (!Number.isSafeInteger(millis)) throw createUsageFault(`"${field}" must be a time in milliseconds`, value);
  return millis;
}

/** A message as somebody sends it. */
export interface NewMessage {
  readonly to: string;
  readonly from: string;
  readonly content: string;
  readonly urgent: boolean;
}

/** Longest name of a persona, in characters. */
export const MAX_NAME = 200;
/** Longest message, in bytes of UTF-8. */
export const MAX_CONTENT = 1024 * 1024;

/**
 * Parses a sent message. Unknown fields are ignored, as the Kijito contract's `POST /api/send` does. `urgent` may be left out. A
 * lone surrogate in the text, which no encoding can carry, becomes U+FFFD.
 *
 * @throws Fault `usage`, naming the field and its value.
 */
export function parseNewMessage(body: unknown): NewMessage {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw createUsageFault('a message must be an object', body);
  const { to, from, content, urgent } = body as Record<string, unknown>;
  const mail = { to: parseName('to', to), from: parseName('from', from), content: parseContent(content) };
  if (urgent !== undefined && typeof urgent !== 'boolean')
    throw createUsageFault('"urgent" must be true or false', urgent);
  return { ...mail, urgent: urgent ?? false };
}

/** Parses the text of a message. @throws Fault `usage` */
function parseContent(value: unknown): string {
  if (typeof value !== 'string') throw createUsageFault('"content" must be text', value);
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_CONTENT) throw createUsageFault(`"content" may have ${MAX_CONTENT} bytes at most`, bytes);
  return value.toWellFormed();
}

/** Parses the name of a persona or producer. @throws Fault `usage` */
export function parseName(field: 'to' | 'from' | 'source' | 'persona', value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw createUsageFault(`"${field}" must be a name`, value);
  if (/[\p{Cc}\u2028\u2029]/u.test(value) || !value.isWellFormed())
    throw createUsageFault(`"${field}" must not contain control characters`, value);
  if (displayName(value) !== value) throw createUsageFault(`"${field}" must not contain invisible characters`, value);
  if (value.length > MAX_NAME && [...value].length > MAX_NAME) {
    throw createUsageFault(`"${field}" may have ${MAX_NAME} characters at most`, value);
  }
  return value;
}

/** A mistake of the caller. It is not an outage, so no banner is shown for its key. */
export function createUsageFault(rule: string, value: unknown): Fault {
  const text = value === undefined ? 'nothing' : displayJson(JSON.stringify(value) ?? String(value));
  const cut = text.length > 80 ? `${text.slice(0, 80)}...` : text;
  return new Fault('usage', `${rule}, not ${cut.toWellFormed()}`, { is: 'machine', key: 'usage' });
}

/** The fields that make a message more than plain mail, with the meaning that `hivebar inbox push` gives them. */
const FIELDS = ['type', 'priority', 'ttl', 'dedup_key', 'session'] as const;

/**
 * Parses what a client sent as an item; null: it is plain mail, see `parseNewMessage`. Each known field takes effect, or is
 * refused by its name. Unknown fields are ignored, as in the Kijito contract, except `origin`, which nobody can claim.
 *
 * @throws Fault `usage`, naming the field and its value
 */
export function parseSentItem(body: unknown, now: Instant): NewItem | null {
  const fields = (body !== null && typeof body === 'object' ? body : {}) as Readonly<Record<string, unknown>>;
  if (fields.origin !== undefined)
    throw createUsageFault('"origin" cannot be sent: only Hivebar sets it', fields.origin);
  const hasField = (field: (typeof FIELDS)[number]): boolean => fields[field] !== undefined && fields[field] !== null;
  if (!FIELDS.some(hasField)) return null;
  const { to, from: source, content, urgent } = parseNewMessage(body);
  const priority = hasField('priority') ? parsePriority('"priority"', fields.priority) : urgent ? 1 : 2;
  if (fields.urgent !== undefined && hasField('priority') && urgent !== priority <= 1)
    throw createUsageFault('"urgent" means priority 0 or 1: give one of the two, or make them agree', fields.urgent);
  return {
    to: { is: 'persona', name: to },
    type: hasField('type') ? parseType('"type"', fields.type) : 'mail',
    source,
    content,
    priority,
    session: parseText(fields, 'session'),
    created: now,
    expires: hasField('ttl') ? now + parseTtl('"ttl"', fields.ttl) : null,
    dedupKey: parseText(fields, 'dedup_key'),
  };
}

function parseText(fields: Readonly<Record<string, unknown>>, field: 'session' | 'dedup_key'): string | null {
  const value = fields[field] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw createUsageFault(`"${field}" must be text`, value);
}
