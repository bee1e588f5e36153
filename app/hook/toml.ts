/**
 * Reads of a TOML text what settings of Codex say about hooks: tables, strings and booleans. Every other value is read over and
 * counts as null.
 */
export type TomlValue = string | boolean | TomlTable | null;
export type TomlTable = Map<string, TomlValue>;

const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const SPACE = /[ \t]*/y;
const BARE_KEY = /[A-Za-z0-9_-]+/y;
const BASIC = /"(?:[^"\\\n]|\\.)*"/y;
const LITERAL = /'[^'\n]*'/y;
const LONG = /"""(?:[^"\\]|\\[\s\S]|""?(?!"))*"{3,5}|'''(?:[^']|''?(?!'))*'{3,5}/y;
/** A number or a date, which may hold a space. */
const OTHER = /[^,\]}#\r\n"'][^,\]}#\r\n]*/y;

/** @returns null for a text that is not TOML; the harness reports that itself */
export function parseToml(text: string): TomlTable | null {
  try {
    return parseDocument(text);
  } catch {
    return null; // see above
  }
}

function parseDocument(text: string): TomlTable {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? null;
    at += match?.length ?? 0;
    return match;
  };
  const need = (token: string): void => {
    if (!text.startsWith(token, at)) throw new SyntaxError(`${token} is missing at ${at}`);
    at += token.length;
  };
  const parseQuoted = (): string | null => {
    const basic = take(BASIC);
    return basic === null ? (take(LITERAL)?.slice(1, -1) ?? null) : unescapeBasic(basic.slice(1, -1));
  };
  const parseKey = (): readonly string[] => {
    const path: string[] = [];
    do {
      take(SPACE);
      const key = take(BARE_KEY) ?? parseQuoted();
      if (key === null) throw new SyntaxError(`a key is missing at ${at}`);
      path.push(key);
      take(SPACE);
    } while (text[at] === '.' && take(/\./y) !== null);
    return path;
  };
  const parseMember = (table: TomlTable): void => {
    const path = parseKey();
    need('=');
    take(SPACE);
    const value = parseValue();
    openTable(table, path.slice(0, -1)).set(path.at(-1) ?? '', value);
  };
  const parseList = (close: string, parseItem: () => void): void => {
    at += 1;
    for (take(BLANK); text[at] !== close; take(BLANK)) {
      parseItem();
      take(BLANK);
      if (text[at] !== close) need(',');
    }
    at += 1;
  };
  const parseValue = (): TomlValue => {
    if (text[at] === '[') {
      parseList(']', parseValue);
      return null;
    }
    if (text[at] === '{') {
      const table: TomlTable = new Map();
      parseList('}', () => parseMember(table));
      return table;
    }
    const long = take(LONG);
    if (long !== null) return long.slice(3, -3);
    const quoted = parseQuoted();
    if (quoted !== null) return quoted;
    const other = take(OTHER)?.trim();
    if (other === undefined) throw new SyntaxError(`a value is missing at ${at}`);
    return other === 'true' ? true : other === 'false' ? false : null;
  };

  const top: TomlTable = new Map();
  let table = top;
  for (take(BLANK); at < text.length; take(BLANK)) {
    if (text[at] !== '[') {
      parseMember(table);
      continue;
    }
    const isList = text[at + 1] === '[';
    at += isList ? 2 : 1;
    const path = parseKey();
    need(isList ? ']]' : ']');
    table = isList ? new Map() : openTable(top, path);
    if (isList) openTable(top, path.slice(0, -1)).set(path.at(-1) ?? '', table);
  }
  return top;
}

function openTable(from: TomlTable, path: readonly string[]): TomlTable {
  let table = from;
  for (const key of path) {
    const inner = table.get(key) ?? new Map();
    if (!(inner instanceof Map)) throw new SyntaxError(`${key} is not a table`);
    table.set(key, inner);
    table = inner;
  }
  return table;
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b' };

function unescapeBasic(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g, (_, short, long, plain: string) =>
    plain === undefined ? String.fromCodePoint(Number.parseInt(short ?? long, 16)) : (ESCAPES[plain] ?? plain),
  );
}

/** Returns the value at a path of keys; undefined when there is none. */
export function findTomlValue(table: TomlTable, ...path: readonly string[]): TomlValue | undefined {
  let value: TomlValue | undefined = table;
  for (const key of path) value = value instanceof Map ? value.get(key) : undefined;
  return value;
}
