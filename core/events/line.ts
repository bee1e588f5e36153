import type { Event } from './event.ts';

/** Keys that come first, in this order; the rest follow as the event has them, the additive ones last. */
const FIRST = ['event', 'source', 'ts', 'id', 'from', 'created', 'persona'] as const;
const LAST = ['content', 'event_id', 'wake_class'] as const;
const PLACED: ReadonlySet<string> = new Set([...FIRST, ...LAST]);

/**
 * One event as one physical line, with its newline: `": "` and `", "` separators, `event` first, non-ASCII raw,
 * U+2028, U+2029, U+0085 and every control character escaped, lone surrogates replaced (Kijito contract b, trap 8).
 */
export function lineOf(event: Event): string {
  const record = event as unknown as Record<string, unknown>;
  const parts: string[] = [];
  const put = (key: string): void => {
    if (record[key] !== undefined) parts.push(`${quote(key)}: ${jsonOf(record[key])}`);
  };
  for (const key of FIRST) put(key);
  for (const key of Object.keys(record)) if (!PLACED.has(key)) put(key);
  for (const key of LAST) put(key);
  return `{${parts.join(', ')}}\n`;
}

function jsonOf(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([k, v]) => `${quote(k)}: ${jsonOf(v)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}

// What JSON.stringify leaves raw and a line reader or terminal would still act on: DEL, C1 controls with NEL, LS, PS.
const RAW = /[\u007f-\u009f\u2028\u2029]/g;

function quote(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(RAW, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What a line says, or null when it is no whole event line: torn, empty, or somebody else's. */
export function eventOf(line: string): Event | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null; // a torn or foreign line is an answer here, not a failure
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const record = value as Record<string, unknown>;
  return typeof record.event === 'string' && typeof record.event_id === 'string' ? (value as Event) : null;
}
