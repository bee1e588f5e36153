/** The limits for JSON that comes from outside. */
export interface JsonLimits {
  /** The maximum length of the text, in characters. */
  readonly chars: number;
  /** The maximum nesting of lists and objects. */
  readonly depth: number;
  /** The maximum number of lists, objects, entries and fields, all together. */
  readonly values: number;
}

/** Parsing a text within these limits takes some milliseconds. */
export const JSON_LIMITS: JsonLimits = { chars: 8 * 1024 * 1024, depth: 64, values: 50_000 };

/** The limits for data that a process reads only for itself, and for a file of the same user that grows with its work. */
export const LARGE_JSON: JsonLimits = { chars: 256 * 1024 * 1024, depth: 1000, values: 10_000_000 };

/** A text was refused before it was parsed. It is a SyntaxError, so that code which handles broken JSON handles it too. */
export class JsonRefusal extends SyntaxError {
  override readonly name = 'JsonRefusal';
}

/**
 * Parses JSON that others wrote. Without limits, six megabytes of brackets take `JSON.parse` seconds, during which
 * nothing else runs. Checking the characters takes a hundredth of that and stops at the first limit.
 * @throws SyntaxError, a JsonRefusal where a limit is exceeded
 */
export function parseJson(text: string, limits: JsonLimits = JSON_LIMITS): unknown {
  checkJson(text, limits);
  return JSON.parse(text);
}

const [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Array.from('",[]{}', (sign) => sign.charCodeAt(0));

/**
 * Checks whether the text is within the limits of `parseJson`, not whether it is JSON.
 * @throws JsonRefusal
 */
export function checkJson(text: string, { chars, depth: deepest, values: most }: JsonLimits = JSON_LIMITS): void {
  if (text.length > chars) throw new JsonRefusal(`it has ${text.length} characters, over ${chars}`);
  if (text.length <= most && hasFewOpeners(text, deepest)) return;
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) {
      at = findStringEnd(text, at);
      if (at === -1) return; // the text is not JSON, and that is cheap to find out
    } else if (sign === COMMA) {
      values += 1;
    } else if (sign === OPEN_LIST || sign === OPEN) {
      depth += 1;
      values += 1;
      if (depth > deepest) throw new JsonRefusal(`it is nested deeper than ${deepest} levels`);
    } else if (sign === CLOSE_LIST || sign === CLOSE) {
      depth -= 1;
    }
    if (values > most) throw new JsonRefusal(`it holds more than ${most} values`);
  }
}

/**
 * Returns true when the text has too few brackets to exceed the depth, even if none is inside a string. This check is
 * enough for most texts and far cheaper than checking each character.
 */
function hasFewOpeners(text: string, most: number): boolean {
  let count = 0;
  for (const sign of ['[', '{']) {
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
      count += 1;
      if (count > most) return false;
    }
  }
  return true;
}

/** Returns the index of the quote that ends the string beginning at `start`; -1: there is none. */
export function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}
