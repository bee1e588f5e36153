import {
  checkJson,
  Fault,
  type FaultCode,
  JSON_LIMITS,
  type JsonLimits,
  JsonRefusal,
  parseJson,
  type Scope,
} from '../../../model/index.ts';
import { parseJsonInParts } from './json-parts.ts';
import type { YieldTurn } from './turns.ts';

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
    return checkAnswer(isWithin(text, AT_ONCE) ? JSON.parse(text) : await parseJsonInParts(text, turn), reading);
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
