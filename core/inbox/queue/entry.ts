import { createHash } from 'node:crypto';
import { type Instant, parseJson } from '../../model/index.ts';
import { type NewItem, OWN_KEYS } from '../item.ts';
import { toNearestPriority, toNearestType } from '../item-fields.ts';
import { MAX_CONTENT, MAX_NAME } from '../mail.ts';
import { isOwnKey } from '../new-item.ts';

/** What a line of the queue says. The file that holds the line determines the persona. */
export type QueueEntry = Omit<NewItem, 'to' | 'session'>;

export type EntryParseResult =
  | { readonly is: 'entry'; readonly entry: QueueEntry }
  | { readonly is: 'bad'; readonly why: string };

/** Longest key that the store accepts, in characters. */
const MAX_KEY = 500;
const LAST_INSTANT = 8.64e15;
const NO_SOURCE = 'queue';

/**
 * Parses a line of the queue (inbox and gates 2). It is lenient where a detail would lose a message. Every field but `content`
 * may be absent, null or a zero value of Go, and unknown fields are ignored. An unknown `type` becomes `event`, a priority
 * outside 0-4 the nearest one, and a blank `source` becomes `queue`. A field of a wrong type makes the line bad.
 *
 * @param now used for an absent `timestamp`
 */
export function parseEntry(line: string, now: Instant): EntryParseResult {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    return toBadEntry(error instanceof Error ? error.message : String(error));
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return toBadEntry('no JSON object');
  const { id, type, source, content, priority, timestamp, dedup_key: key, ttl_seconds: ttl } = dropNulls(value);
  if (typeof content !== 'string') return toBadEntry('"content" is not text');
  if (Buffer.byteLength(content) > MAX_CONTENT) return toBadEntry(`"content" has over ${MAX_CONTENT} bytes`);
  for (const [name, text] of Object.entries({ id, type, source, dedup_key: key })) {
    if (text !== undefined && typeof text !== 'string') return toBadEntry(`"${name}" is not text`);
  }
  if (typeof key === 'string' && isOwnKey(key))
    return toBadEntry(`"dedup_key" begins with ${OWN_KEYS}, which is for what Hivebar itself says`);
  if (priority !== undefined && !Number.isInteger(priority)) return toBadEntry('"priority" is not a whole number');
  if (timestamp !== undefined && !isSpan(timestamp)) return toBadEntry('"timestamp" is not a time in milliseconds');
  if (ttl !== undefined && !isSpan(ttl)) return toBadEntry('"ttl_seconds" is not a number of seconds');
  const created = Math.floor(timestamp ?? 0) || now;
  const entry: QueueEntry = {
    type: toNearestType(type),
    source: toSource(source as string | undefined),
    content: content.toWellFormed(),
    priority: toNearestPriority(priority),
    created,
    expires: ttl === undefined || ttl === 0 ? null : Math.min(LAST_INSTANT, created + ttl * 1000),
    dedupKey: toDedupKey(key as string | undefined),
  };
  return { is: 'entry', entry };
}

/**
 * Formats an entry as a line with its LF. Times are whole milliseconds and seconds, as in the schema; a lifetime is rounded up.
 * Text that no encoding can carry becomes U+FFFD.
 *
 * @param id a uuid
 */
export function formatEntryLine(
  { type, source, content, priority, created, expires, dedupKey }: QueueEntry,
  id: string,
): string {
  const timestamp = Math.floor(created);
  const ttl = expires === null ? {} : { ttl_seconds: Math.max(1, Math.ceil((expires - timestamp) / 1000)) };
  const key = dedupKey === null ? {} : { dedup_key: dedupKey.toWellFormed() };
  const text = { source: source.toWellFormed(), content: content.toWellFormed() };
  return `${JSON.stringify({ id, type, ...text, priority, timestamp, ...key, ...ttl })}\n`;
}

/** The fields without nulls, because null means absent, as in Go and Rust. */
function dropNulls(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

/** Makes a valid name: one line, not too long. */
function toSource(text: string | undefined): string {
  const line = (text ?? '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.slice(0, MAX_NAME).toWellFormed().trim() || NO_SOURCE;
}

/** A key that is too long becomes its hash, so that the same key is still the same item. */
function toDedupKey(text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  const key = text.toWellFormed();
  return key.length <= MAX_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

function isSpan(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_INSTANT;
}

function toBadEntry(why: string): EntryParseResult {
  return { is: 'bad', why };
}
