/**
 * Edits of a JSON text that change only the bytes they are about, so that other people's settings keep their spacing, order and
 * spelling. The text must be one that `JSON.parse` accepts.
 */

/** The position of a value in its text: `[start, end)`. */
export type JsonPart =
  | { readonly is: 'object'; readonly start: number; readonly end: number; readonly members: readonly JsonMember[] }
  | { readonly is: 'array'; readonly start: number; readonly end: number; readonly items: readonly JsonPart[] }
  | { readonly is: 'plain'; readonly start: number; readonly end: number };

export interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly value: JsonPart;
}

type JsonSpan = Pick<JsonPart, 'start' | 'end'>;
type Container = Extract<JsonPart, { is: 'object' | 'array' }>;

const STRING = /"(?:[^"\\]|\\.)*"/y;
const PLAIN = /[^\s,\]}]+/y;
const SPACE = /\s*/y;

/** @throws SyntaxError for text that is not JSON */
export function parseParts(text: string): JsonPart {
  JSON.parse(text);
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? '';
    at += match.length;
    return match;
  };
  const value = (): JsonPart => {
    take(SPACE);
    const start = at;
    const first = text[at];
    if (first === '{') return { is: 'object', start, members: list('}', member), end: at };
    if (first === '[') return { is: 'array', start, items: list(']', value), end: at };
    take(first === '"' ? STRING : PLAIN);
    return { is: 'plain', start, end: at };
  };
  const member = (): JsonMember => {
    const start = at;
    const key = JSON.parse(take(STRING)) as string;
    take(SPACE);
    at += 1; // the colon
    const inner = value();
    return { key, start, end: inner.end, value: inner };
  };
  const list = <T>(close: string, parseItem: () => T): readonly T[] => {
    const items: T[] = [];
    at += 1;
    for (take(SPACE); text[at] !== close; take(SPACE)) {
      if (text[at] === ',') at += 1;
      take(SPACE);
      items.push(parseItem());
    }
    at += 1;
    return items;
  };
  return value();
}

const COMMENT_OR_STRING = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** Replaces comments by blanks, for a text that is only read. Every other character stays at its place. */
export function blankComments(text: string): string {
  return text.replace(COMMENT_OR_STRING, (part) => (part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' ')));
}

/** Finds a member. If a key occurs twice, the last one counts, as with `JSON.parse`. */
export function findMember(part: JsonPart, key: string): JsonMember | undefined {
  return part.is === 'object' ? part.members.findLast((entry) => entry.key === key) : undefined;
}

/** Appends an item (or, with a key, a member), written like its neighbours. */
export function appendValue(text: string, into: Container, value: unknown, key: string | null = null): string {
  const inside: readonly JsonSpan[] = into.is === 'array' ? into.items : into.members;
  const last = inside.at(-1);
  const lead = key === null ? '' : `${JSON.stringify(key)}: `;
  const isSpread = (last === undefined ? text : text.slice(into.start, last.start)).includes('\n') || text.length <= 4;
  if (!isSpread) {
    const words = `${lead}${JSON.stringify(value)}`;
    return last === undefined
      ? spliceText(text, into.start + 1, into.end - 1, words)
      : spliceText(text, last.end, last.end, `, ${words}`);
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = findIndentUnit(text);
  const around = findIndent(text, into.start);
  const indent = last === undefined ? around + unit : findIndent(text, last.start);
  const words = `${lead}${JSON.stringify(value, null, unit)}`.replaceAll('\n', `${eol}${indent}`);
  return last === undefined
    ? spliceText(text, into.start + 1, into.end - 1, `${eol}${indent}${words}${eol}${around}`)
    : spliceText(text, last.end, last.end, `,${eol}${indent}${words}`);
}

/** Replaces a value by another, on one line or on several as before. */
export function replacePart(text: string, { start, end }: JsonPart, value: unknown): string {
  if (!text.slice(start, end).includes('\n')) return spliceText(text, start, end, JSON.stringify(value));
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const words = JSON.stringify(value, null, findIndentUnit(text));
  return spliceText(text, start, end, words.replaceAll('\n', `${eol}${findIndent(text, start)}`));
}

/** Removes the item or member `which`. */
export function removeAt(text: string, from: Container, which: number): string {
  const inside: readonly JsonSpan[] = from.is === 'array' ? from.items : from.members;
  const [before, entry, after] = [inside[which - 1], inside[which], inside[which + 1]];
  if (entry === undefined) throw new RangeError(`there is no item ${which}`);
  if (after !== undefined) return spliceText(text, entry.start, after.start, '');
  if (before !== undefined) return spliceText(text, before.end, entry.end, '');
  return spliceText(text, from.start + 1, from.end - 1, '');
}

function spliceText(text: string, start: number, end: number, words: string): string {
  return text.slice(0, start) + words + text.slice(end);
}

/** Returns the indentation of the line at this position. */
function findIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Returns one step of indentation, taken from the first indented line. */
function findIndentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}
