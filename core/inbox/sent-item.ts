import type { Instant } from '../model/index.ts';
import type { NewItem } from './item.ts';
import { parsePriority, parseTtl, parseType } from './item-fields.ts';
import { createUsageFault, parseNewMessage } from './mail.ts';

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
    throw createUsageFault('"origin" cannot be sent: only Hivebar itself has one', fields.origin);
  const hasField = (field: (typeof FIELDS)[number]): boolean => fields[field] !== undefined && fields[field] !== null;
  if (!FIELDS.some(hasField)) return null;
  const { to, from: source, content, urgent } = parseNewMessage(body);
  const priority = hasField('priority') ? parsePriority('"priority"', fields.priority) : urgent ? 1 : 2;
  if (fields.urgent !== undefined && hasField('priority') && urgent !== priority <= 1)
    throw createUsageFault('"urgent" is priority 0 or 1: give one of the two, or both alike', fields.urgent);
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
