import type { Turn } from './turns.ts';

/** Characters that are parsed in one turn of the event loop. */
const PART_CHARS = 64 * 1024;

/**
 * What `JSON.parse` gives for an object, or throws; but the elements of its list `result` are parsed in parts, between
 * which everybody else has a turn. A text that is not cut here, since it is no such object or a key is in doubt, is parsed
 * as a whole.
 * @throws SyntaxError
 */
export async function parsedInParts(text: string, turn: Turn, chars = PART_CHARS): Promise<unknown> {
  const cut = await listOf(text, turn, chars);
  if (cut === null) return JSON.parse(text);
  const { from, to, commas } = cut;
  // Without its elements the list is empty, and the rest of the text means what it meant.
  const envelope = JSON.parse(text.slice(0, from) + text.slice(to));
  const all: unknown[] = [];
  let at = from;
  for (const end of [...commas, to]) {
    await turn();
    const part: unknown[] = JSON.parse(`[${text.slice(at, end)}]`);
    if (part.length === 0 && commas.length > 0) throw new SyntaxError('nothing stands where an element is due');
    for (const value of part) all.push(value);
    at = end + 1;
  }
  return { ...envelope, result: all };
}

/** Where the elements of `result` begin and end, and of the commas between them those to cut at. */
interface List {
  readonly from: number;
  readonly to: number;
  readonly commas: readonly number[];
}

const [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Array.from('",[]{}', (sign) => sign.charCodeAt(0));
/**
 * Only finds places: what is no JSON is found out by who parses the pieces. Null when the text does not have exactly one
 * list `result`, as far as its own keys can be told from their spelling.
 */
async function listOf(text: string, turn: Turn, chars: number): Promise<List | null> {
  let depth = 0;
  let from = -1;
  let to = -1;
  const commas: number[] = [];
  let lastCut = 0;
  let lastTurn = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) {
      const end = endOfString(text, at);
      if (end === -1) return null;
      const value = depth === 1 ? afterColon(text, end + 1) : -1;
      if (value !== -1 && text.slice(at, end).includes('\\')) return null;
      if (value !== -1 && text.slice(at + 1, end) === 'result') {
        if (from !== -1 || text.charCodeAt(value) !== OPEN_LIST) return null;
        from = value + 1;
        lastCut = from;
      }
      at = end;
    } else if (sign === COMMA) {
      if (depth !== 2 || from === -1 || to !== -1 || at - lastCut < chars) continue;
      commas.push(at);
      lastCut = at;
    } else if (sign === OPEN_LIST || sign === OPEN) {
      depth += 1;
    } else if (sign === CLOSE_LIST || sign === CLOSE) {
      depth -= 1;
      if (depth === 1 && from !== -1 && to === -1) to = at;
    }
    if (at - lastTurn < chars) continue;
    lastTurn = at;
    await turn();
  }
  return from === -1 || to === -1 ? null : { from, to, commas };
}

/** The index of the quote that ends the string which begins at `at`; -1: none does. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

const COLON = /[ \t\n\r]*:[ \t\n\r]*/y;

/** Where the value begins whose key ended before `at`; -1: it was no key. */
function afterColon(text: string, at: number): number {
  COLON.lastIndex = at;
  return COLON.test(text) ? COLON.lastIndex : -1;
}
