import { type Count, exactly, sameName, UNKNOWN } from '../../../model/index.ts';
import { type Answer, faultIn, isCount, isRecord, kindOf, type Reading } from './answer.ts';
import { mapInTurns, type Turn } from './turns.ts';

/** A row as it came, its id checked. */
export interface WireRow {
  readonly id: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * What a page says of older rows. `whole`: there are none, or the server knows no windows and sends everything (D13).
 * `older`: rows below `before` were withheld. `unsaid`: it can not be told, or the page contradicts itself, and then
 * neither half of it is believed (Kijito contract, traps 17 to 21).
 */
export type Older =
  | { readonly is: 'whole' }
  | { readonly is: 'older'; readonly before: number }
  | { readonly is: 'unsaid'; readonly why: string };

/** One healthy page of an inbox: the newest rows below some id, ascending. */
export interface Page {
  readonly rows: readonly WireRow[];
  /** It has fields of a window: this server sends windows, and a page without any is cut (D13). */
  readonly isWindow: boolean;
  readonly older: Older;
  /** Unread rows of this page; null when one does not say plainly whether it is. Mail to oneself is never unread. */
  readonly unreadHere: number | null;
  /** Unread rows of the whole inbox, as far as this page, being the newest, can tell. */
  readonly unread: Count;
  /** Unread rows that this page, being the newest, leaves out; null: it does not say (trap 28). */
  readonly notShown: number | null;
  /** Rows left out, where it says how many. */
  readonly omitted: number | null;
}

/**
 * One answer of `GET /api/inbox` by the health rule (Kijito contract a and l). Rows may come in any order, but no id
 * twice. `owner` is the persona whose inbox it is, empty where that is not known: the pending list does not count a persona's own mail, so neither does this.
 * `sendsWindows`: a page of this server had the fields of one before.
 * @throws Fault `shape`
 */
export function pageOf(
  envelope: Answer['envelope'],
  found: readonly WireRow[],
  reading: Reading,
  owner: string,
  sendsWindows = false,
): Page {
  const rows = found.toSorted((a, b) => a.id - b.id);
  let before = 0;
  for (const { id } of rows) {
    if (id === before) throw faultIn(reading, 'shape', `the id ${id} comes twice`);
    before = id;
  }
  const isWindow = WINDOW_FIELDS.some((field) => envelope[field] !== undefined);
  const older = isWindow || sendsWindows ? olderOf(envelope, rows[0]?.id ?? null) : WHOLE;
  const unreadHere = unreadAmong(rows, owner);
  return {
    rows,
    isWindow,
    older,
    unreadHere,
    unread: unreadOf(envelope, unreadHere, older),
    notShown: notShownOf(envelope, older),
    omitted: omittedOf(envelope),
  };
}

const WINDOW_FIELDS = ['truncated', 'size_dropped', 'next_before_id'] as const;
const WHOLE: Older = { is: 'whole' };

/**
 * Every element of `result` is an object with an id, a safe integer from 1 on.
 * @throws, or rejects with, Fault `shape`
 */
export function rowsOf(result: Answer['result'], reading: Reading, turn: Turn): WireRow[] | Promise<WireRow[]> {
  return mapInTurns(result, turn, (value, index) => rowOf(value, index, reading));
}

function rowOf(value: unknown, index: number, reading: Reading): WireRow {
  if (!isRecord(value)) throw faultIn(reading, 'shape', `row ${index} is ${kindOf(value)}, not an object`);
  const { id } = value;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) {
    const shown = typeof id === 'number' ? `${id}` : kindOf(id);
    throw faultIn(reading, 'shape', `the id of row ${index} is ${shown}, not a whole number from 1 on`);
  }
  return { id, fields: value };
}

function olderOf(envelope: Readonly<Record<string, unknown>>, oldest: number | null): Older {
  const { truncated, size_dropped: dropped, next_before_id: next } = envelope;
  // A flag that is neither true nor false, and a count that is none, stand for an omission of unknown size.
  const withheld = !isOneOf(truncated, [undefined, false]) || !isOneOf(dropped, [undefined, 0]);
  const unsaid = (why: string): Older => ({ is: 'unsaid', why });
  if (next === null) return withheld ? unsaid('it withheld rows, and says that there are none older') : WHOLE;
  if (!isCount(next))
    return unsaid(`it does not say whether there are older rows: "next_before_id" is ${kindOf(next)}`);
  if (!withheld) return unsaid(`it withheld nothing, and continues before ${next}`);
  if (oldest === null) return unsaid(`it is empty, and continues before ${next}`);
  if (next !== oldest) return unsaid(`it continues before ${next}, but its oldest row is ${oldest}`);
  return { is: 'older', before: next };
}

function isOneOf(value: unknown, all: readonly unknown[]): boolean {
  return all.includes(value);
}

/** `unread_not_shown` is computed only when something was withheld, so it is used only then. */
function unreadOf(envelope: Readonly<Record<string, unknown>>, shown: number | null, older: Older): Count {
  if (shown === null) return UNKNOWN;
  if (older.is === 'whole') return exactly(shown);
  const { unread_not_shown: hidden } = envelope;
  return older.is === 'older' && isCount(hidden) ? exactly(shown + hidden) : { is: 'atLeast', n: shown };
}

/**
 * What the server says is unread and not in this page. Of a page that withholds nothing that is none; where it withheld
 * rows and can not be believed about the rest, 0 says nothing (trap 28).
 */
function notShownOf(envelope: Readonly<Record<string, unknown>>, older: Older): number | null {
  if (older.is === 'whole') return 0;
  const { unread_not_shown: hidden } = envelope;
  if (!isCount(hidden)) return null;
  return older.is === 'unsaid' && hidden === 0 ? null : hidden;
}

/** `truncated` does not say how many rows the count limit withheld; then `size_dropped` is not all of them. */
function omittedOf({ truncated, size_dropped: dropped }: Readonly<Record<string, unknown>>): number | null {
  return isOneOf(truncated, [undefined, false]) && isCount(dropped) ? dropped : null;
}

function unreadAmong(rows: readonly WireRow[], owner: string): number | null {
  let unread = 0;
  // Names are compared once each: a window may hold thousands of messages of a few senders.
  const own = new Map<unknown, boolean>();
  for (const { fields } of rows) {
    if (typeof fields.read !== 'boolean') return null;
    if (fields.read) continue;
    const { from } = fields;
    if (!own.has(from)) own.set(from, owner !== '' && typeof from === 'string' && sameName(from, owner));
    if (own.get(from) === false) unread += 1;
  }
  return unread;
}
