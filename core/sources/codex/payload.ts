import { parseJson } from '../../model/index.ts';
import { cut, sanitizeText } from '../source-tools.ts';

/** Only so many characters of a payload are read and parsed (Codex contract 6). */
export const PAYLOAD_CHARS = 64 * 1024;

/**
 * The text of a queued message: its parts of type `text`, joined by a line feed. Another part is shown as `[TYPE]`, and an unknown
 * shape as `[TOP-KEY]`. It never fails.
 *
 * @param payload at most `PAYLOAD_CHARS` of the payload, so it may end anywhere
 * @param chars the most code points of the text
 */
export function formatPayload(payload: unknown, chars: number): string {
  const value = typeof payload === 'string' ? parseStart(payload) : undefined;
  if (value === undefined) return '[unreadable]';
  const parts = findParts(value);
  const text = parts === null ? formatShape(value) : parts.map(formatPart).join('\n');
  return cut(sanitizeText(text), chars);
}

/** The parts of every known shape; null for another shape. */
function findParts(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return null;
  const { UserInput: input = value } = value;
  if (Array.isArray(input)) return input;
  if (!isObject(input)) return null;
  return [input.content, input.items, input.input].find(Array.isArray) ?? null;
}

function formatPart(part: unknown): string {
  if (!isObject(part)) return formatShape(part);
  if (part.type === 'text' && typeof part.text === 'string') return part.text;
  return typeof part.type === 'string' ? `[${part.type}]` : formatShape(part);
}

const KEY_CHARS = 80;

function formatShape(value: unknown): string {
  const name = isObject(value) ? (Object.keys(value)[0] ?? 'empty') : value === null ? 'null' : typeof value;
  return `[${cut(name, KEY_CHARS)}]`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON that may be cut off: what is complete of it, and a text up to where it ends. Undefined when nothing is. */
function parseStart(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    for (const candidate of completions(text)) {
      try {
        return parseJson(candidate);
      } catch {
        // the next one is shorter
      }
    }
    return undefined;
  }
}

/** Ways to end a JSON text that was cut off, the longest first: within a text, else after the last complete value. */
function completions(text: string): readonly string[] {
  const open: string[] = [];
  /** The last place at which the open lists and objects can be closed. Since then none was opened or closed. */
  let completeTo = 0;
  let at = 0;
  for (; at < text.length; at += 1) {
    const sign = text[at] as string;
    if (sign === '"') {
      const end = findTextEnd(text, at);
      if (end === -1) break;
      at = end;
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? '}' : ']');
      completeTo = at + 1;
    } else if (sign === '}' || sign === ']') {
      open.pop();
      completeTo = at + 1;
    } else if (sign === ',') completeTo = at;
  }
  const rest = at < text.length ? `${text.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')}"` : text;
  return [rest, text.slice(0, completeTo)].map((start) => start + open.toReversed().join(''));
}

function findTextEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}
