import { type Count, exactly, sameName, UNKNOWN } from '../../../model/index.ts';
import { envelopeOf, faultIn, isCount, isRecord, kindOf, type Reading } from './answer.ts';

/** A row as it came, its id checked. */
export interface WireRow {
  readonly id: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * What a page says of older rows. `whole`: there are none, or the server knows no windows and sends everything (D13).
 * `older`: rows below `before` were withheld. `unsaid`: it can not be told.
 */
export type Older =
  | { readonly is: 'whole' }
  | { readonly is: 'older'; readonly before: number }
  | { readonly is: 'unsaid'; readonly why: string };

/** One healthy page of an inbox: the newest rows below some id, ascending. */
export interface Page {
  readonly rows: readonly WireRow[];
  readonly older: Older;
  /** Unread rows of this page; null when one does not say plainly whether it is. Mail to oneself is never unread. */
  readonly unreadHere: number | null;
  /** Unread rows of the whole inbox, as far as this page, being the newest, can tell. */
  readonly unread: Count;
}

/**
 * One answer of `GET /api/inbox` by the health rule (Kijito contract a and l): an object with a list `result` of objects
 * with an id, a safe integer from 1 on, no id twice. Rows may come in any order. `owner` is the persona whose inbox it
 * is, empty where that is not known: the pending list does not count a persona's own mail, so neither does this.
 * @throws Fault `not-json` or `shape`, also where the page contradicts itself about what it withholds (traps 18 to 21)
 */
export function pageOf(body: Uint8Array, reading: Reading, owner: string): Page {
  const { envelope, result } = envelopeOf(body, reading);
  const rows = result.map((value, index) => rowOf(value, index, reading)).sort((a, b) => a.id - b.id);
  let before = 0;
  for (const { id } of rows) {
    if (id === before) throw faultIn(reading, 'shape', `the id ${id} comes twice`);
    before = id;
  }
  const older = olderOf(envelope, rows[0]?.id ?? null, reading);
  const unreadHere = unreadAmong(rows, owner);
  return { rows, older, unreadHere, unread: unreadOf(envelope, unreadHere, older) };
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

function olderOf(envelope: Readonly<Record<string, unknown>>, oldest: number | null, reading: Reading): Older {
  const { truncated, size_dropped: dropped, next_before_id: next } = envelope;
  if (truncated === undefined && dropped === undefined && next === undefined) return { is: 'whole' };
  // A flag that is neither true nor false, and a count that is none, stand for an omission of unknown size.
  const withheld = !isOneOf(truncated, [undefined, false]) || !isOneOf(dropped, [undefined, 0]);
  const refuse = (what: string): never => {
    throw faultIn(reading, 'shape', what);
  };
  if (next === null) return withheld ? refuse('it withheld rows, and says that there are none older') : { is: 'whole' };
  if (!isCount(next)) return { is: 'unsaid', why: `"next_before_id" is ${kindOf(next)}` };
  if (!withheld) return refuse(`it withheld nothing, and continues before ${next}`);
  if (oldest === null) return refuse(`it is empty, and continues before ${next}`);
  if (next !== oldest) return refuse(`it continues before ${next}, but its oldest row is ${oldest}`);
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

function unreadAmong(rows: readonly WireRow[], owner: string): number | null {
  let unread = 0;
  for (const { fields } of rows) {
    if (typeof fields.read !== 'boolean') return null;
    const isOwn = owner !== '' && typeof fields.from === 'string' && sameName(fields.from, owner);
    if (!fields.read && !isOwn) unread += 1;
  }
  return unread;
}
