import {
  type Count,
  checkJson,
  exactly,
  Fault,
  type FaultCode,
  isSameName,
  JSON_LIMITS,
  type JsonLimits,
  JsonRefusal,
  parseJson,
  type Scope,
  UNKNOWN,
} from '../../../model/index.ts';
import { mapInTurns, parseJsonInParts, type YieldTurn } from '../../json-parts.ts';

/** A message as it came, with a checked id. */
export interface RawMessage {
  readonly id: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * What a page says about older messages. `whole`: there are none, or the server does not page and sends everything (D13).
 * `older`: messages below `before` were withheld. `unsaid`: the page does not tell, or contradicts itself, and then neither half
 * is believed (Kijito contract, traps 17 to 21).
 */
type OlderMessages =
  | { readonly is: 'whole' }
  | { readonly is: 'older'; readonly before: number }
  | { readonly is: 'unsaid'; readonly why: string };

/** One valid page of an inbox: the newest messages below some id, ascending. */
export interface HivePage {
  readonly messages: readonly RawMessage[];
  /** Whether the page has paging fields. Then this server pages, and a later page without those fields was cut (D13). */
  readonly isWindow: boolean;
  readonly older: OlderMessages;
  /**
   * Unread messages of this page; null when a message does not say plainly whether it is read. Mail to oneself never counts as
   * unread.
   */
  readonly unreadHere: number | null;
  /** Unread messages of the whole inbox, as far as this page can tell when it is the newest. */
  readonly unread: Count;
  /** Unread messages that this page leaves out when it is the newest; null when it does not say (trap 28). */
  readonly hiddenUnread: number | null;
  /** How many messages were left out; null when the page does not say. */
  readonly omitted: number | null;
}

/**
 * Parses one answer of `GET /api/inbox` by the health rule (Kijito contract a and l). Messages may come in any order, but no id
 * twice.
 * `owner` is the persona whose inbox it is, empty when unknown. Like the pending list, this does not count a persona's own mail.
 * `sendsWindows`: an earlier page of this server had paging fields.
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
    if (id === before) throw createAnswerFault(reading, 'shape', `the id ${id} appears twice`);
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
 * Checks that every element of `result` is an object with an id, a safe integer from 1 on.
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
  // A flag that is neither true nor false, or an invalid count, means that an unknown number of messages was withheld.
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

/** The server computes `unread_not_shown` only when it withheld something, so it is used only then. */
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
 * How many unread messages the server says are not in this page. A page that withholds nothing hides none. When the page withheld
 * messages and contradicts itself about the rest, 0 proves nothing (trap 28).
 */
function countHiddenUnread(envelope: Readonly<Record<string, unknown>>, older: OlderMessages): number | null {
  if (older.is === 'whole') return 0;
  const { unread_not_shown: hidden } = envelope;
  if (!isCount(hidden)) return null;
  return older.is === 'unsaid' && hidden === 0 ? null : hidden;
}

/** `truncated` does not say how many messages the count limit withheld; then `size_dropped` does not cover all of them. */
function countOmitted({ truncated, size_dropped: dropped }: Readonly<Record<string, unknown>>): number | null {
  return isAmong(truncated, [undefined, false]) && isCount(dropped) ? dropped : null;
}

function countUnreadAmong(messages: readonly RawMessage[], owner: string): number | null {
  let unread = 0;
  // Each name is compared once: a page may hold thousands of messages from a few senders.
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

/** One answer of a hive while it is parsed. */
export interface AnswerReading {
  /** Names the answer in the message of a fault. It is called only for a fault. */
  from(): string;
  readonly scope: Scope;
}

export function createAnswerFault(reading: AnswerReading, code: FaultCode, detail: string): Fault {
  return new Fault(code, `${reading.from()}: ${detail}`, reading.scope);
}

/** The parsed envelope and its `result`. */
export interface HiveAnswer {
  readonly envelope: Readonly<Record<string, unknown>>;
  readonly result: readonly unknown[];
}

/**
 * Parses the bytes of an answer. A byte-order mark is accepted (Kijito contract D20).
 * @throws Fault `not-json`, or `shape` when it is no object with a list `result`
 */
export function parseAnswer(body: Uint8Array, reading: AnswerReading): HiveAnswer {
  try {
    return checkAnswer(parseJson(decodeBody(body)), reading);
  } catch (error) {
    throw toJsonFault(error, body, reading);
  }
}

/** A larger answer is parsed in parts. */
const AT_ONCE: JsonLimits = { ...JSON_LIMITS, chars: 256 * 1024, values: 10_000 };

/**
 * Like `parseAnswer`, but parses a large answer in parts and yields to other work in between. Parts that would take long to parse
 * are left out, so that no hive holds up another.
 */
export async function parseAnswerInTurns(
  body: Uint8Array,
  reading: AnswerReading,
  turn: YieldTurn,
): Promise<HiveAnswer> {
  try {
    const text = decodeBody(body);
    return checkAnswer(
      isWithin(text, AT_ONCE) ? JSON.parse(text) : await parseJsonInParts(text, 'result', turn),
      reading,
    );
  } catch (error) {
    throw toJsonFault(error, body, reading);
  }
}

function isWithin(text: string, limits: JsonLimits): boolean {
  try {
    checkJson(text, limits);
    return true;
  } catch {
    return false; // the other way of parsing has limits of its own
  }
}

function decodeBody(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function checkAnswer(envelope: unknown, reading: AnswerReading): HiveAnswer {
  if (!isRecord(envelope))
    throw createAnswerFault(reading, 'shape', `the answer is ${describeKind(envelope)}, not an object`);
  const { result } = envelope;
  if (!Array.isArray(result))
    throw createAnswerFault(reading, 'shape', `"result" is ${describeKind(result)}, not a list`);
  return { envelope, result };
}

function toJsonFault(error: unknown, body: Uint8Array, reading: AnswerReading): unknown {
  if (!(error instanceof SyntaxError)) return error;
  // The message says the length and not the text: the text may be mail, and people who may not read mail can see faults.
  const why = error instanceof JsonRefusal ? `not read, since ${error.message}` : 'not JSON';
  const message = `${reading.from()}: the answer of ${body.length} bytes is ${why}`;
  return new Fault('not-json', message, reading.scope, { cause: error });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `true`, `2.5` and `"7"` are no counts (Kijito contract, trap 23). */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The kind of a value, for messages. The value itself may be long and is foreign text, so it is never shown. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty string';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
