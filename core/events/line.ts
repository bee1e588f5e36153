import type { Event } from './event.ts';
import { TORN } from './torn-line.ts';

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
const PLACED: ReadonlySet<string> = new Set([...FIRST, ...ALL_LAST].map(([key]) => key));

/** A key with its JSON text, made once because every line has the same keys. */
function toLabelledKey(key: string): readonly [key: string, label: string] {
  return [key, `${quote(key)}: `];
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
export function formatUnstamped(event: Event): string {
  return open(event, LAST);
}

function open(event: Event, last: typeof LAST): string {
  const record = event as unknown as Record<string, unknown>;
  let line = '';
  const put = ([key, label]: readonly [string, string]): void => {
    const value = record[key];
    if (value !== undefined) line += `${line === '' ? '{' : ', '}${label}${formatJson(value)}`;
  };
  for (const known of FIRST) put(known);
  for (const key of Object.keys(record)) if (!PLACED.has(key)) put(toLabelledKey(key));
  for (const known of last) put(known);
  return line;
}

export function formatJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(formatJson).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([k, v]) => `${quote(k)}: ${formatJson(v)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
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
