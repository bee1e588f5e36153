import type { Instant } from '../model/index.ts';
import type { NewItem } from './item.ts';
import { parsePriority, parseTtl, parseType } from './item-fields.ts';
import { mailOf, usage } from './mail.ts';

/** What makes a message more than plain mail; each with the meaning that `hivebar inbox push` gives it. */
const FIELDS = ['type', 'priority', 'ttl', 'dedup_key', 'session'] as const;

/**
 * What a client sent, as an item; null: it is plain mail, see `mailOf`. No field that it says is passed over: it holds, or is
 * refused by its name. Unknown fields are ignored, as the Kijito contract has it, but for `origin`, which nobody can claim.
 *
 * @throws Fault `usage`, naming the field and its value
 */
export function parseSentItem(body: unknown, now: Instant): NewItem | null {
  const given = (body !== null && typeof body === 'object' ? body : {}) as Readonly<Record<string, unknown>>;
  if (given.origin !== undefined) throw usage('"origin" can not be sent: only Hivebar itself has one', given.origin);
  const isSaid = (field: (typeof FIELDS)[number]): boolean => given[field] !== undefined && given[field] !== null;
  if (!FIELDS.some(isSaid)) return null;
  const { to, from: source, content, urgent } = mailOf(body);
  const priority = isSaid('priority') ? parsePriority('"priority"', given.priority) : urgent ? 1 : 2;
  if (given.urgent !== undefined && isSaid('priority') && urgent !== priority <= 1)
    throw usage('"urgent" is priority 0 or 1: give one of the two, or both alike', given.urgent);
  return {
    to: { is: 'persona', name: to },
    type: isSaid('type') ? parseType('"type"', given.type) : 'mail',
    source,
    content,
    priority,
    session: textIn(given, 'session'),
    created: now,
    expires: isSaid('ttl') ? now + parseTtl('"ttl"', given.ttl) : null,
    dedupKey: textIn(given, 'dedup_key'),
  };
}

function textIn(given: Readonly<Record<string, unknown>>, field: 'session' | 'dedup_key'): string | null {
  const value = given[field] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw usage(`"${field}" must be text`, value);
}
