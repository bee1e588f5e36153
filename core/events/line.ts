import { hash } from 'node:crypto';
import type { ClockReading } from '../ports/index.ts';
import { type Event, toEmissionTime } from './event.ts';

/**
 * Printable ASCII without quote and backslash, which in JSON only needs quotes. Most text is like that, and most of the time is
 * spent here.
 */
const PLAIN = /^[ !#-[\]-~]*$/;
/**
 * Characters that JSON.stringify leaves raw and that a line reader or terminal would act on: DEL, C1 controls with NEL, LS, PS.
 */
const RAW = /[\u007f-\u009f\u2028\u2029]/g;

/** Keys that come first, in this order, and keys that come last. The others stand in between, in the order of the event. */
const FIRST = ['event', 'source', 'ts', 'id', 'from', 'created', 'persona'].map(toLabelledKey);
const LAST = ['content', 'event_id', 'wake_class'].map(toLabelledKey);
/** Keys behind all others, which the sink adds when it takes an event; see `createStamper`. */
const STAMP = ['nonce', 'emitted'].map(toLabelledKey);
const ALL_LAST = [...LAST, ...STAMP];
const PLACED: ReadonlySet<string> = new Set([...FIRST, ...ALL_LAST].map(({ key }) => key));

/** A key with the JSON text before its value, made once because every line has the same keys. `event` begins the line. */
function toLabelledKey(key: string): { readonly key: string; readonly label: string } {
  return { key, label: `${key === 'event' ? '{' : ', '}${quote(key)}: ` };
}

/**
 * One event as one physical line, with its newline. Separators are `": "` and `", "`, `event` comes first, and non-ASCII stays
 * raw. U+2028, U+2029, U+0085 and every control character are escaped, lone surrogates replaced (Kijito contract b, trap 8).
 */
export function formatEventLine(event: Event): string {
  return `${formatEventJson(event)}\n`;
}

/** The event as `formatEventLine` writes it, without the newline. */
export function formatEventJson(event: Event): string {
  return `${open(event, ALL_LAST)}}`;
}

/** The event as `formatEventJson` writes it, without its stamp, if it has one, and without the closing brace. */
function formatUnstamped(event: Event): string {
  return open(event, LAST);
}

function open(event: Event, last: typeof LAST): string {
  const record = event as unknown as Record<string, unknown>;
  const others = Object.keys(record).filter((key) => !PLACED.has(key));
  const keys = others.length === 0 ? FIRST : [...FIRST, ...others.map(toLabelledKey)];
  return formatMembers(record, keys) + formatMembers(record, last);
}

/** Returns the members that the record has. */
function formatMembers(record: Record<string, unknown>, keys: typeof LAST): string {
  let text = '';
  for (const { key, label } of keys) {
    const value = record[key];
    if (value !== undefined) text += label + formatJson(value);
  }
  return text;
}

export function formatJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(formatJson).join(', ')}]`;
  if (value !== null && typeof value === 'object') return formatObject(value as Record<string, unknown>);
  return JSON.stringify(value);
}

function formatObject(record: Record<string, unknown>): string {
  let text = '';
  for (const key of Object.keys(record)) text += `${text === '' ? '' : ', '}${quote(key)}: ${formatJson(record[key])}`;
  return `{${text}}`;
}

function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text.toWellFormed()).replace(RAW, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Parses an event line. Null when it is no whole event line: torn, closed after a tear, empty, or somebody else's. */
export function parseEventLine(line: string): Event | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null; // a torn or foreign line is an answer here, not a failure
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const record = value as Record<string, unknown>;
  const { event, event_id } = record;
  return typeof event === 'string' && event !== TORN && typeof event_id === 'string' ? (value as Event) : null;
}

/** The event name of a line that was broken off. */
const TORN = 'torn';
/** When two keys are equal, JSON readers take the last one. */
const END = `, "event": "${TORN}"}\n`;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What may be missing of a number, a word or a member. The first entry that makes valid JSON is used. */
const MISSING = ['', ': 0', '0', 'e', 'ue', 'rue', 'se', 'lse', 'alse', 'l', 'll', 'ull', '"": 0'];

/**
 * The bytes that turn the beginning of a line into a whole line of JSON, newline included. The result is an object whose `event`
 * is `torn`, or, when only the newline is missing, the original line.
 * Null when the fragment is not the beginning of an object, or of no valid JSON.
 */
export function findClosing(fragment: Uint8Array): Uint8Array | null {
  const { text, open, inString } = scanFragment(fragment);
  if (fragment[0] === 0x7b && open.length === 0 && isJson(text)) return Buffer.from('\n');
  if (open[0] !== '}') return null;
  const missing = inString ? findStringEnds(text).flatMap((end) => [end, `${end}: 0`]) : MISSING;
  const rest = open.slice(1).reverse().join('');
  for (const candidate of missing) {
    const closing = `${candidate}${rest}${END}`;
    if (isJson(text + closing)) return Buffer.concat([findRestOfCharacter(fragment), Buffer.from(closing)]);
  }
  return null;
}

interface FragmentScan {
  /** The fragment once its last character is complete. */
  readonly text: string;
  /** The closing signs of each open object and array, the outermost first. */
  readonly open: readonly string[];
  readonly inString: boolean;
}

function scanFragment(fragment: Uint8Array): FragmentScan {
  const open: string[] = [];
  let inString = false;
  for (let at = 0; at < fragment.length; at += 1) {
    const byte = fragment[at];
    if (inString && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) inString = !inString;
    else if (!inString && byte === 0x7b) open.push('}');
    else if (!inString && byte === 0x5b) open.push(']');
    else if (!inString && (byte === 0x7d || byte === 0x5d)) open.pop();
  }
  return { text: Buffer.concat([fragment, findRestOfCharacter(fragment)]).toString('utf8'), open, inString };
}

/** A string may break off among the digits of an escape, or right after a backslash. */
function findStringEnds(text: string): readonly string[] {
  const digits = /\\u([0-9a-fA-F]{0,3})$/.exec(text)?.[1];
  return ['"', '\\"', ...(digits === undefined ? [] : [`${'0'.repeat(4 - digits.length)}"`])];
}

/** The bytes that are missing of the last UTF-8 character; any valid ones will do. */
function findRestOfCharacter(fragment: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, fragment.length); back += 1) {
    const byte = fragment[fragment.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    const rest = new Uint8Array(Math.max(0, length - back)).fill(0x80);
    // Directly after these two bytes, 0x80 would be an overlong spelling of a shorter character.
    if (back === 1 && (byte === 0xe0 || byte === 0xf0)) rest[0] = byte === 0xe0 ? 0xa0 : 0x90;
    return rest;
  }
  return new Uint8Array(0);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // the next candidate may be valid
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const DIGITS = 11;

/** The eleven digits are computed as three numbers of four, four and three digits, the least significant first. */
const FOUR = 62 ** 4;
const THREE = 62 ** 3;

/**
 * The hash is sixteen numbers of sixteen bits. This table holds what each place is worth modulo 62^11, split into the same three
 * numbers. So the digits are sums of products that a double holds exactly, ten times as fast as long division.
 */
const WORTH = Array.from({ length: 16 }, (_, i) => {
  const worth = 2n ** BigInt(16 * (15 - i)) % 62n ** BigInt(DIGITS);
  const four = BigInt(FOUR);
  return { low: Number(worth % four), middle: Number((worth / four) % four), high: Number(worth / four / four) };
});

/**
 * The first 11 digits of sha256(`eventId`) in base 62, least significant first, of a-z, A-Z, 0-9 (Kijito contract b; traps 63 to
 * 65). It depends on the id alone, so the same message has the same nonce for ever, whoever sends it again.
 */
export function computeNonce(eventId: string): string {
  const bytes = hash('sha256', eventId, 'binary');
  let low = 0;
  let middle = 0;
  let high = 0;
  let at = 0;
  for (const worth of WORTH) {
    const part = bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1);
    at += 2;
    low += part * worth.low;
    middle += part * worth.middle;
    high += part * worth.high;
  }
  middle += Math.floor(low / FOUR);
  high += Math.floor(middle / FOUR);
  return formatDigits(low % FOUR, 4) + formatDigits(middle % FOUR, 4) + formatDigits(high % THREE, 3);
}

function formatDigits(value: number, count: number): string {
  let text = '';
  for (let left = value, i = 0; i < count; i += 1) {
    text += ALPHABET[left % 62];
    left = Math.floor(left / 62);
  }
  return text;
}

/**
 * Returns a function that formats events which are taken now, without a newline. Each gets its `nonce`, and all get the same
 * `emitted` time.
 * Only the sink that takes an event calls this, once. Every later copy of the event has the same text (Kijito contract b).
 */
export function createStamper(reading: ClockReading): (event: Event) => string {
  const emitted = formatJson(toEmissionTime(reading));
  return (event) => `${formatUnstamped(event)}, "nonce": "${computeNonce(event.event_id)}", "emitted": ${emitted}}`;
}
