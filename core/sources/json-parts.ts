import { findStringEnd, JSON_LIMITS, JsonRefusal, parseJson } from '../model/index.ts';
import { UNREADABLE } from './source-tools.ts';

/** How many characters are parsed in one turn of the event loop. */
const PART_CHARS = 64 * 1024;
/** A list or object inside a message or the envelope is left out when it has more characters than this. */
const MOST_CHARS = 64 * 1024;
/** It is also left out when its message or envelope would exceed this many values with it. */
const MOST_VALUES = 10_000;
/** The most entries of the list, and the most keys of the envelope. */
const MOST_ENTRIES = 100_000;

/**
 * Parses an object as `JSON.parse` does, but the elements of the list `key` in parts, and yields to other work in between. A
 * text without exactly one such list, or with a doubtful key, is parsed as a whole, within the limits of all JSON from outside.
 *
 * A list or object that would take long to parse is left out, and its neighbours are read all the same. A field of a message
 * becomes a placeholder; a field of the envelope, and a message with too many fields, become null.
 * @throws SyntaxError
 */
export async function parseJsonInParts(
  text: string,
  key: string,
  turn: YieldTurn,
  chars = PART_CHARS,
): Promise<unknown> {
  const list = await findList(text, key, turn, chars);
  if (list === null) return parseJson(text);
  const { from, to, commas } = list;
  const read = createPieceReader(text, list.cuts);
  const head = read(0, from);
  const elements: unknown[] = [];
  let at = from;
  for (const end of [...commas, to]) {
    await turn();
    const part: unknown[] = JSON.parse(`[${read(at, end)}]`);
    if (part.length === 0 && commas.length > 0) throw new SyntaxError('an element is missing');
    for (const value of part) elements.push(value);
    at = end + 1;
  }
  // Without its elements the list is empty, and the rest of the text keeps its meaning.
  return { ...JSON.parse(head + read(to, text.length)), [key]: elements };
}

/** A part of the text that is not parsed, and the JSON that replaces it. */
interface JsonCut {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/** Returns a function that reads spans of the text, in ascending order, with each cut replaced. */
function createPieceReader(text: string, cuts: readonly JsonCut[]): (from: number, to: number) => string {
  let next = 0;
  return (from, to) => {
    let piece = '';
    let at = from;
    for (let cut = cuts[next]; cut !== undefined && cut.from < to; cut = cuts[next]) {
      piece += text.slice(at, cut.from) + cut.by;
      at = cut.to;
      next += 1;
    }
    return piece + text.slice(at, to);
  };
}

/** Where the elements of the list begin and end, the commas between elements at which to split, and what to leave out. */
interface ListLayout {
  readonly from: number;
  readonly to: number;
  readonly commas: readonly number[];
  readonly cuts: readonly JsonCut[];
}

const [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Array.from('",[]{}', (sign) => sign.charCodeAt(0));
const PLACEHOLDER = JSON.stringify(UNREADABLE);

/**
 * Finds positions only; invalid JSON is noticed when the pieces are parsed. Null when the text does not have exactly one list
 * `key`, as far as the spelling of its keys shows.
 * @throws JsonRefusal when list or envelope have too many entries
 */
async function findList(text: string, key: string, turn: YieldTurn, chars: number): Promise<ListLayout | null> {
  let depth = 0;
  let from = -1;
  let to = -1;
  const commas: number[] = [];
  const cuts: JsonCut[] = [];
  let lastCut = 0;
  let lastTurn = 0;
  let entries = 0;
  let keys = 0;
  /** The current message: where it begins, how many fields it has, and how many values its lists and objects have. */
  let row = { from: 0, fields: 0, values: 0 };
  /** The number of values in lists and objects of the envelope. */
  let envelopeValues = 0;
  /** The current list or object inside a message or the envelope. */
  let inner: { readonly from: number; readonly depth: number; values: number; isDeep: boolean } | null = null;

  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    const isInList = from !== -1 && to === -1;
    if (sign === QUOTE) {
      const end = findStringEnd(text, at);
      if (end === -1) return null;
      const value = depth === 1 ? findValueStart(text, end + 1) : -1;
      if (value !== -1 && text.slice(at, end).includes('\\')) return null;
      if (value !== -1 && text.slice(at + 1, end) === key) {
        if (from !== -1 || text.charCodeAt(value) !== OPEN_LIST) return null;
        from = value + 1;
        lastCut = from;
        row = { from, fields: 0, values: 0 };
      }
      at = end;
    } else if (sign === COMMA) {
      if (inner !== null) inner.values += 1;
      else if (depth === 1) keys += 1;
      else if (isInList && depth === 3) row.fields += 1;
      else if (isInList && depth === 2) {
        entries += 1;
        row = { from: at + 1, fields: 0, values: 0 };
        if (at - lastCut >= chars) {
          commas.push(at);
          lastCut = at;
        }
      }
      if (entries >= MOST_ENTRIES || keys >= MOST_ENTRIES)
        throw new JsonRefusal(`it has more than ${MOST_ENTRIES} entries`);
    } else if (sign === OPEN_LIST || sign === OPEN) {
      const isInner = isInList ? depth === 3 || (depth === 2 && sign === OPEN_LIST) : depth === 1 && at + 1 !== from;
      if (inner === null && isInner) inner = { from: at, depth, values: 0, isDeep: false };
      depth += 1;
      if (inner !== null) {
        inner.values += 1;
        inner.isDeep ||= depth > JSON_LIMITS.depth;
      }
    } else if (sign === CLOSE_LIST || sign === CLOSE) {
      depth -= 1;
      if (inner !== null && depth === inner.depth) {
        const before: number = isInList ? row.values : envelopeValues;
        const isCut = inner.isDeep || inner.values + before > MOST_VALUES || at + 1 - inner.from > MOST_CHARS;
        if (isCut) cuts.push({ from: inner.from, to: at + 1, by: isInList ? PLACEHOLDER : 'null' });
        else if (isInList) row.values += inner.values;
        else envelopeValues += inner.values;
        inner = null;
      } else if (isInList && depth === 1) {
        to = at;
      } else if (isInList && depth === 2 && row.fields > MOST_VALUES) {
        while ((cuts.at(-1)?.from ?? -1) >= row.from) cuts.pop();
        cuts.push({ from: row.from, to: at + 1, by: 'null' });
      }
    }
    if (at - lastTurn < chars) continue;
    lastTurn = at;
    await turn();
  }
  return from === -1 || to === -1 ? null : { from, to, commas, cuts };
}

const COLON = /[ \t\n\r]*:[ \t\n\r]*/y;

/** Where the value begins whose key ended before `at`; -1 when the string is no key. */
function findValueStart(text: string, at: number): number {
  COLON.lastIndex = at;
  return COLON.test(text) ? COLON.lastIndex : -1;
}

/** How many items are processed in one turn of the event loop. */
const AT_ONCE = 400;

/** Resolves when other work has had a turn. */
export type YieldTurn = () => Promise<void>;

/** Maps a short list at once, and a long one in parts, between which other work has a turn. */
export function mapInTurns<A, B>(
  items: readonly A[],
  turn: YieldTurn,
  make: (item: A, index: number) => B,
): B[] | Promise<B[]> {
  return items.length > AT_ONCE ? mapWithYields(items, turn, make) : items.map((item, index) => make(item, index));
}

async function mapWithYields<A, B>(
  items: readonly A[],
  turn: YieldTurn,
  make: (item: A, index: number) => B,
): Promise<B[]> {
  const results: B[] = [];
  for (const [index, item] of items.entries()) {
    if (index % AT_ONCE === 0) await turn();
    results.push(make(item, index));
  }
  return results;
}
