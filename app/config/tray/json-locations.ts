/** A parsed JSON text with the positions of its members. Offsets are in code units. */
export type JsonLocations =
  | {
      readonly is: 'json';
      readonly value: unknown;
      /** Offset at which the member (with its key) or item that a JSON pointer names begins; 0 when it does not exist. */
      findOffset(pointer: string): number;
      /** Pointers of members whose key appears a second time. */
      readonly repeated: readonly { readonly pointer: string; readonly offset: number }[];
    }
  | { readonly is: 'broken'; readonly offset: number; readonly message: string };

/** Deeper than any settings file. The limit keeps a hostile text from exhausting the stack. */
const DEEPEST = 100;
const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them in a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/**
 * Parses a JSON text and records where its members are. Every text that `JSON.parse` refuses is reported as broken, with an
 * offset: only some messages of `JSON.parse` contain one.
 */
export function locateJson(text: string): JsonLocations {
  const offsets = new Map<string, number>();
  const repeated: { pointer: string; offset: number }[] = [];
  let at = 0;

  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? null;
    at += match?.length ?? 0;
    return match;
  };
  const next = (): string => {
    take(SPACE);
    return text.charAt(at);
  };
  const expected = (expectation: string): JsonSyntaxError => {
    const actual = at >= text.length ? 'the text ends here' : `there is ${JSON.stringify(text.charAt(at))}`;
    return new JsonSyntaxError(at, `expected ${expectation}, but ${actual}`);
  };

  function value(pointer: string, depth: number): void {
    if (depth > DEEPEST) throw new JsonSyntaxError(at, `nested deeper than ${DEEPEST}`);
    const first = next();
    if (first === '{') object(pointer, depth);
    else if (first === '[') list(pointer, depth);
    else if (take(STRING) === null && take(SCALAR) === null)
      throw expected(first === '"' ? 'a whole string' : 'a value');
  }

  function object(pointer: string, depth: number): void {
    at += 1;
    if (next() === '}') {
      at += 1;
      return;
    }
    for (;;) {
      next();
      const offset = at;
      const key = take(STRING);
      if (key === null) throw expected('a key in double quotes');
      const member = `${pointer}/${escapePointerKey(JSON.parse(key) as string)}`;
      if (offsets.has(member)) repeated.push({ pointer: member, offset });
      offsets.set(member, offset);
      if (next() !== ':') throw expected('a colon');
      at += 1;
      value(member, depth + 1);
      if (ends('}')) return;
    }
  }

  function list(pointer: string, depth: number): void {
    at += 1;
    if (next() === ']') {
      at += 1;
      return;
    }
    for (let index = 0; ; index += 1) {
      next();
      offsets.set(`${pointer}/${index}`, at);
      value(`${pointer}/${index}`, depth + 1);
      if (ends(']')) return;
    }
  }

  function ends(bracket: string): boolean {
    const character = next();
    if (character !== bracket && character !== ',') throw expected(`a comma or ${bracket}`);
    at += 1;
    return character === bracket;
  }

  try {
    value('', 0);
    next();
    if (at < text.length) throw expected('nothing more');
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { is: 'broken', offset: error.offset, message: error.message };
  }
  return { is: 'json', value: JSON.parse(text), findOffset: (pointer) => offsets.get(pointer) ?? 0, repeated };
}

/** Converts an offset to line and column. Both count from 1; columns are code units, as in editors. */
export function toLineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Escapes one key for use in a JSON pointer (RFC 6901). */
function escapePointerKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}
