import { type Count, exactly, isSameName, UNKNOWN } from '../../../model/index.ts';
import { type AnswerReading, createAnswerFault, describeKind, type HiveAnswer, isCount, isRecord } from './answer.ts';
import { mapInTurns, type YieldTurn } from './turns.ts';

/** A row as it came, its id checked. */
export interface RawMessage {
  readonly id: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * What a page says of older rows. `whole`: there are none, or the server knows no windows and sends everything (D13).
 * `older`: rows below `before` were withheld. `unsaid`: it cannot be told, or the page contradicts itself, and then
 * neither half of it is believed (Kijito contract, traps 17 to 21).
 */
export type OlderMessages =
  | { readonly is: 'whole' }
  | { readonly is: 'older'; readonly before: number }
  | { readonly is: 'unsaid'; readonly why: string };

/** One healthy page of an inbox: the newest rows below some id, ascending. */
export interface HivePage {
  readonly messages: readonly RawMessage[];
  /** It has fields of a window: this server sends windows, and a page without any is cut (D13). */
  readonly isWindow: boolean;
  readonly older: OlderMessages;
  /** Unread rows of this page; null when one does not say plainly whether it is. Mail to oneself is never unread. */
  readonly unreadHere: number | null;
  /** Unread rows of the whole inbox, as far as this page, being the newest, can tell. */
  readonly unread: Count;
  /** Unread rows that this page, being the newest, leaves out; null: it does not say (trap 28). */
  readonly hiddenUnread: number | null;
  /** Rows left out, where it says how many. */
  readonly omitted: number | null;
}

/**
 * One answer of `GET /api/inbox` by the health rule (Kijito contract a and l). Rows may come in any order, but no id
 * twice. `owner` is the persona whose inbox it is, empty where that is not known: the pending list does not count a persona's own mail, so neither does this.
 * `sendsWindows`: a page of this server had the fields of one before.
 * @throws Fault `shape`
 */
export function parsePage(
  envelope: HiveAnswer['envelope'],
  rawMessages: readonly RawMessage[],
  reading: AnswerReading,
  owner: string,
  sendsWindows = false,
): HivePage {
  const messages = rawMessages.toSorted((a, b) => a.id - b.id);
  let before = 0;
  for (const { id } of messages) {
    if (id === before) throw createAnswerFault(reading, 'shape', `the id ${id} comes twice`);
    before = id;
  }
  const isWindow = WINDOW_FIELDS.some((field) => envelope[field] !== undefined);
  const older = isWindow || sendsWindows ? parseOlder(envelope, messages[0]?.id ?? null) : WHOLE;
  const unreadHere = countUnreadAmong(messages, owner);
  return {
    messages,
    isWindow,
    older,
    unreadHere,
    unread: countUnread(envelope, unreadHere, older),
    hiddenUnread: countHiddenUnread(envelope, older),
    omitted: countOmitted(envelope),
  };
}

const WINDOW_FIELDS = ['truncated', 'size_dropped', 'next_before_id'] as const;
const WHOLE: OlderMessages = { is: 'whole' };

/**
 * Every element of `result` is an object with an id, a safe integer from 1 on.
 * @throws, or rejects with, Fault `shape`
 */
export function parseRawMessages(
  result: HiveAnswer['result'],
  reading: AnswerReading,
  turn: YieldTurn,
): RawMessage[] | Promise<RawMessage[]> {
  return mapInTurns(result, turn, (value, index) => parseRawMessage(value, index, reading));
}

function parseRawMessage(value: unknown, index: number, reading: AnswerReading): RawMessage {
  if (!isRecord(value))
    throw createAnswerFault(reading, 'shape', `row ${index} is ${describeKind(value)}, not an object`);
  const { id } = value;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1) {
    const formattedId = typeof id === 'number' ? `${id}` : describeKind(id);
    throw createAnswerFault(reading, 'shape', `the id of row ${index} is ${formattedId}, not a whole number from 1 on`);
  }
  return { id, fields: value };
}

function parseOlder(envelope: Readonly<Record<string, unknown>>, oldest: number | null): OlderMessages {
  const { truncated, size_dropped: dropped, next_before_id: next } = envelope;
  // A flag that is neither true nor false, and a count that is none, stand for an omission of unknown size.
  const withheld = !isAmong(truncated, [undefined, false]) || !isAmong(dropped, [undefined, 0]);
  const unsaid = (why: string): OlderMessages => ({ is: 'unsaid', why });
  if (next === null) return withheld ? unsaid('it withheld rows, and says that there are none older') : WHOLE;
  if (!isCount(next))
    return unsaid(`it does not say whether there are older rows: "next_before_id" is ${describeKind(next)}`);
  if (!withheld) return unsaid(`it withheld nothing, and continues before ${next}`);
  if (oldest === null) return unsaid(`it is empty, and continues before ${next}`);
  if (next !== oldest) return unsaid(`it continues before ${next}, but its oldest row is ${oldest}`);
  return { is: 'older', before: next };
}

function isAmong(value: unknown, values: readonly unknown[]): boolean {
  return values.includes(value);
}

/** `unread_not_shown` is computed only when something was withheld, so it is used only then. */
function countUnread(
  envelope: Readonly<Record<string, unknown>>,
  unreadHere: number | null,
  older: OlderMessages,
): Count {
  if (unreadHere === null) return UNKNOWN;
  if (older.is === 'whole') return exactly(unreadHere);
  const { unread_not_shown: hidden } = envelope;
  return older.is === 'older' && isCount(hidden) ? exactly(unreadHere + hidden) : { is: 'atLeast', n: unreadHere };
}

/**
 * What the server says is unread and not in this page. Of a page that withholds nothing that is none; where it withheld
 * rows and cannot be believed about the rest, 0 says nothing (trap 28).
 */
function countHiddenUnread(envelope: Readonly<Record<string, unknown>>, older: OlderMessages): number | null {
  if (older.is === 'whole') return 0;
  const { unread_not_shown: hidden } = envelope;
  if (!isCount(hidden)) return null;
  return older.is === 'unsaid' && hidden === 0 ? null : hidden;
}

/** `truncated` does not say how many rows the count limit withheld; then `size_dropped` is not all of them. */
function countOmitted({ truncated, size_dropped: dropped }: Readonly<Record<string, unknown>>): number | null {
  return isAmong(truncated, [undefined, false]) && isCount(dropped) ? dropped : null;
}

function countUnreadAmong(messages: readonly RawMessage[], owner: string): number | null {
  let unread = 0;
  // Names are compared once each: a window may hold thousands of messages of a few senders.
  const own = new Map<unknown, boolean>();
  for (const { fields } of messages) {
    if (typeof fields.read !== 'boolean') return null;
    if (fields.read) continue;
    const { from } = fields;
    if (!own.has(from)) own.set(from, owner !== '' && typeof from === 'string' && isSameName(from, owner));
    if (own.get(from) === false) unread += 1;
  }
  return unread;
}
