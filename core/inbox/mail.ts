import { displayJson, displayName } from '../format/index.ts';
import { Fault } from '../model/index.ts';

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
    throw createUsageFault('a message is an object', body);
  const { to, from, content, urgent } = body as Record<string, unknown>;
  const mail = { to: parseName('to', to), from: parseName('from', from), content: parseContent(content) };
  if (urgent !== undefined && typeof urgent !== 'boolean')
    throw createUsageFault('"urgent" must be true or false', urgent);
  return { ...mail, urgent: urgent ?? false };
}

/** Parses the text of a message. @throws Fault `usage` */
export function parseContent(value: unknown): string {
  if (typeof value !== 'string') throw createUsageFault('"content" must be text', value);
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_CONTENT) throw createUsageFault(`"content" may have ${MAX_CONTENT} bytes at most`, bytes);
  return value.toWellFormed();
}

/** Parses the name of a persona or producer. @throws Fault `usage` */
export function parseName(field: 'to' | 'from' | 'source', value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw createUsageFault(`"${field}" must be a name`, value);
  if (/[\p{Cc}\u2028\u2029]/u.test(value) || !value.isWellFormed())
    throw createUsageFault(`"${field}" must not contain control characters`, value);
  if (displayName(value) !== value)
    throw createUsageFault(`"${field}" must not contain characters that cannot be seen`, value);
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
