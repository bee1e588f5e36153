import { Fault, type Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import type { ItemOrigin, Priority } from './item.ts';
import { createUsageFault } from './new-item.ts';
import { INBOX_SCHEMA } from './schema.ts';

/** The parameters of `GET /api/inbox` (Kijito contract a). */
export interface InboxQuery {
  readonly persona: string;
  /** Marks the rows of the answer as read; `read` in the answer is still the state before. */
  readonly markRead: boolean;
  /** Only rows older than this id; 0 is a real cursor with nothing before it. Null: from the newest. */
  readonly beforeId: number | null;
  readonly limit: number;
  readonly unreadOnly: boolean;
}

/** The parameters of `GET /api/notify/pending`: the counts now, or held until they change. */
export interface PendingQuery {
  readonly waitMs: number;
  /** Null: the client has no cursor yet, so the answer comes at once. */
  readonly cursor: string | null;
}

export const DEFAULT_LIMIT = 200;
export const MAX_LIMIT = 1000;
/** The longest hold; a request for more gets this. */
export const MAX_WAIT_MS = 60_000;

/**
 * Parses the parameters of `GET /api/inbox`. `mark_read` is true by default, so a wrong value is refused: with the default the
 * request would mark mail as read.
 */
export function parseInboxQuery(params: URLSearchParams): InboxQuery | Fault {
  return catchFault(() => {
    const persona = readParam(params, 'persona');
    if (persona === null || persona === '') throw createUsageFault('"persona" must be a name', persona ?? undefined);
    const limit = parseInteger(params, 'limit') ?? DEFAULT_LIMIT;
    if (limit < 1) throw createUsageFault('"limit" must be at least 1', limit);
    return {
      persona,
      markRead: parseFlag(params, 'mark_read', true),
      beforeId: parseInteger(params, 'before_id'),
      limit: Math.min(limit, MAX_LIMIT),
      unreadOnly: parseFlag(params, 'unread_only', false),
    };
  });
}

export function parsePendingQuery(params: URLSearchParams): PendingQuery | Fault {
  return catchFault(() => {
    const wait = readParam(params, 'wait');
    if (wait !== null && !/^\d{1,9}(\.\d{1,9})?$/.test(wait))
      throw createUsageFault('"wait" must be a number of seconds', wait);
    return { waitMs: Math.min(Number(wait ?? 0) * 1000, MAX_WAIT_MS), cursor: readParam(params, 'cursor') };
  });
}

function catchFault<T>(read: () => T): T | Fault {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

function readParam(params: URLSearchParams, name: string): string | null {
  const values = params.getAll(name);
  if (values.length > 1) throw createUsageFault(`"${name}" may be given only once`, values);
  return values[0] ?? null;
}

function parseInteger(params: URLSearchParams, name: string): number | null {
  const text = readParam(params, name);
  if (text === null) return null;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value))
    throw createUsageFault(`"${name}" must be a whole number`, text);
  return value;
}

function parseFlag(params: URLSearchParams, name: string, fallback: boolean): boolean {
  const text = readParam(params, name);
  switch (text?.toLowerCase()) {
    case undefined:
      return fallback;
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      throw createUsageFault(`"${name}" must be true or false`, text);
  }
}

/** A row as `GET /api/inbox` shows it, keys in this order (Kijito contract a). */
export interface InboxRow {
  readonly id: number;
  readonly from: string;
  readonly content: string;
  /** UTC, see `formatIso`. For people only: the order is by `id`. */
  readonly created: string;
  readonly read: boolean;
  /** Hivebar itself says this, such as the answer of a decision; absent for everything that others send. */
  readonly origin?: ItemOrigin;
}

/** The answer to `GET /api/inbox`, with keys and meanings of Kijito contract a. */
export interface InboxAnswer {
  /** The newest rows that fit, newest first. */
  readonly result: readonly InboxRow[];
  /** The count limit withheld rows; how many is not said. */
  readonly truncated: boolean;
  /** How many rows were withheld because the answer would be too large. */
  readonly size_dropped: number;
  /** The newest row alone was too large, so its text was cut; `limit=1` returns all of it. */
  readonly size_truncated: boolean;
  /** The oldest id in the answer if rows were withheld, to continue from; else null. */
  readonly next_before_id: number | null;
  /** Unread mail of the persona that is not in this answer; 0 if nothing was withheld. */
  readonly unread_not_shown: number;
}

interface RowPage {
  /** Newest first. */
  readonly rows: readonly InboxRow[];
  /** More rows were available, but the budget was spent. */
  readonly full: boolean;
  /** The only row of the page was larger than the budget, so its text was cut. */
  readonly clipped: boolean;
}

/**
 * Takes the newest rows whose JSON fits into `budget` bytes, at least one. If not even one row fits, its text is cut. Reads no
 * more of `rows` (newest first) than needed.
 */
export function toRowPage(rows: Iterable<InboxRow>, budget: number): RowPage {
  const page: InboxRow[] = [];
  let left = budget;
  for (const row of rows) {
    const bytes = countJsonBytes(row) + 1; // plus a comma
    if (bytes > left) {
      if (page.length > 0) return { rows: page, full: true, clipped: false };
      const room = left - countJsonBytes({ ...row, content: '' }) - 1;
      return { rows: [{ ...row, content: clip(row.content, Math.max(0, room)) }], full: true, clipped: true };
    }
    left -= bytes;
    page.push(row);
  }
  return { rows: page, full: false, clipped: false };
}

/** The longest prefix of `text` that takes `max` bytes inside a JSON string. */
function clip(text: string, max: number): string {
  let low = 0;
  let high = Math.min(text.length, max); // a UTF-16 unit takes at least one byte
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (countJsonBytes(text.slice(0, middle)) - 2 <= max) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low); // never half a pair, because half a pair is escaped and so takes more bytes than the whole
}

function countJsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The first `count` code points of a text. */
export function cutText(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let points = 0; points < count && end < text.length; points += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

/** `?1` is the persona, `?2` is now. */
const WAITS = 'persona = ?1 AND read_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)';
const OWN = `FROM inbox INDEXED BY inbox_pending WHERE ${WAITS} AND origin IS NULL`;
const TO_ALL = `FROM broadcast_acks INDEXED BY broadcast_acks_pending WHERE ${WAITS}`;

/**
 * Creates a function that counts the unread items of a persona by priority, 0 first, each count up to `MOST_COUNTED`. It counts
 * items for any session, items for one session, and leased items. It does not count expired items, nor what Hivebar itself says
 * to the agent. The cost does not depend on how many items wait.
 *
 * @throws Fault `database`, now and at each call
 */
export function createUnreadCounter(db: Database): (persona: string, now: Instant) => ReturnType<typeof sumByPriority> {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const rows = db.prepare<PriorityTally>(`
    ${tally(`${OWN} AND session IS NULL`, 'inbox.priority')}
    UNION ALL ${tally(TO_ALL, 'broadcast_acks.priority')}
    UNION ALL SELECT priority, count(*) FROM (SELECT priority ${OWN} AND session > '' LIMIT ${MOST_COUNTED}) GROUP BY priority`);
  return (persona, now) => sumByPriority(rows.all(persona, Math.floor(now)));
}

/** The most items counted per priority; this number stands for as many or more. */
export const MOST_COUNTED = 1000;

export interface PriorityTally {
  readonly priority: Priority;
  readonly n: number;
}

/**
 * SQL that counts rows by priority. The cost does not depend on how many rows there are.
 * @param from `FROM ... WHERE ...` with the rows to count
 * @param priority the column with the priority
 */
export const tally = (from: string, priority: string) => `
  SELECT p.priority, (SELECT count(*) FROM (SELECT 1 ${from} AND ${priority} = p.priority LIMIT ${MOST_COUNTED})) AS n
  FROM (SELECT 0 AS priority UNION ALL VALUES (1), (2), (3), (4)) AS p`;

/** The sums by priority, 0 first. */
export function sumByPriority(tallies: readonly PriorityTally[]): readonly [number, number, number, number, number] {
  const counts: [number, number, number, number, number] = [0, 0, 0, 0, 0];
  for (const { priority, n } of tallies) counts[priority] = Math.min(counts[priority] + n, MOST_COUNTED);
  return counts;
}

/** Whether anything waits for a persona, and whether any of it is of priority 0 or 1. */
export type UndeliveredLevel = 'none' | 'ordinary' | 'urgent';

/**
 * Creates a function that says what waits for any session of a persona. It includes more than pending items: leased items too,
 * whose lease may be released, and items for one session alone. The cost does not depend on how much waits.
 *
 * @throws Fault `database`, now and at each call
 */
export function createUndeliveredCheck(db: Database): (persona: string, now: Instant) => UndeliveredLevel {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const row = db.prepare<{ urgent: number; any: number }>(`
    SELECT ${exists('AND priority <= 1')} AS urgent, ${exists('')} AS "any"`);
  return (persona, now) => {
    const flags = row.get(persona, Math.floor(now));
    if (flags?.urgent === 1) return 'urgent';
    return flags?.any === 1 ? 'ordinary' : 'none';
  };
}

const NOT_EXPIRED = '(expires_at IS NULL OR expires_at > ?2)';

/** `?1` is the persona, `?2` is now. A persona that does not exist yet has every broadcast that has not expired. */
const exists = (condition: string): string => `(
  EXISTS (SELECT 1 FROM inbox INDEXED BY inbox_pending
    WHERE persona = ?1 AND read_at IS NULL AND ${NOT_EXPIRED} ${condition})
  OR EXISTS (SELECT 1 FROM broadcast_acks INDEXED BY broadcast_acks_pending
    WHERE persona = ?1 AND read_at IS NULL AND ${NOT_EXPIRED} ${condition})
  OR EXISTS (SELECT 1 FROM inbox WHERE persona = '' AND ${NOT_EXPIRED} ${condition}
    AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)))`;
