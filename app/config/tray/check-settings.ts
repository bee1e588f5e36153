import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { Fault } from '../../../core/model/index.ts';
import { AS_WRITTEN, parseNatsTarget, parseProxy, parseTarget } from '../../../core/net/index.ts';
import { checkSourceSettings, RESERVED_NAMES } from '../../../core/sources/derived.ts';
import { findBadUtf8 } from '../../../core/state/index.ts';
import { checkOpener } from '../../open/index.ts';
import { SETTINGS, type Settings } from './settings.ts';

/** One thing that is wrong in a settings file. */
export interface SettingsProblem {
  /** Counts from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type SettingsCheck =
  | { readonly is: 'good'; readonly settings: Partial<Settings> }
  | { readonly is: 'bad'; readonly problems: readonly [SettingsProblem, ...SettingsProblem[]] };

const fits = new Ajv2020({
  strict: true,
  allErrors: true,
  verbose: true,
  discriminator: true,
  keywords: ['atNextStart'],
}).compile<Partial<Settings>>({
  ...SETTINGS,
  required: [], // the file lists only what differs from the defaults
});

/**
 * Checks the bytes of a settings file. Bytes that are not UTF-8 are refused, because writing them back would change the text.
 */
export function checkSettingsBytes(bytes: Uint8Array): SettingsCheck {
  const bad = findBadUtf8(bytes);
  if (bad === null) return checkSettings(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const { line, column, byte } = bad;
  const message = `the byte 0x${byte.toString(16).padStart(2, '0')} is not UTF-8: save the file as UTF-8`;
  return { is: 'bad', problems: [{ line, column, message }] };
}

/** Lists everything that is wrong with the text of a settings file, in the order of the file. */
export function checkSettings(text: string): SettingsCheck {
  const places = locateJson(text);
  if (places.is === 'broken')
    return createBadCheck(text, [{ offset: places.offset, message: `invalid JSON: ${places.message}` }]);
  const findings = [...findRepeats(places), ...findFindings(places)];
  const [first, ...rest] = findings.toSorted((a, b) => a.offset - b.offset);
  return first === undefined
    ? { is: 'good', settings: places.value as Partial<Settings> }
    : createBadCheck(text, [first, ...rest]);
}

const SCOPE = { is: 'machine', key: 'config' } as const;

/**
 * Checks what a JSON Schema cannot: that an address, and that of its proxy, can be used for requests.
 * @throws Fault `bad-url`, `blocked` or `usage`, naming the address
 */
export function checkAddress(address: string, proxy?: string): void {
  const target = parseTarget(address, AS_WRITTEN, SCOPE);
  if (proxy !== undefined) parseProxy(proxy, target, SCOPE);
}

interface SettingsFinding {
  readonly offset: number;
  readonly message: string;
}

type ParsedJson = JsonLocations & { readonly is: 'json' };

function createBadCheck(
  text: string,
  [first, ...rest]: readonly [SettingsFinding, ...SettingsFinding[]],
): SettingsCheck {
  const toProblem = ({ offset, message }: SettingsFinding): SettingsProblem => ({
    ...toLineAndColumn(text, offset),
    message,
  });
  return { is: 'bad', problems: [toProblem(first), ...rest.map(toProblem)] };
}

/** Finds keys that appear twice. `JSON.parse` silently takes the last one, while a person reads the first. */
function findRepeats({ repeated }: ParsedJson): readonly SettingsFinding[] {
  return repeated.map(({ pointer, offset }) => ({ offset, message: `${formatPointer(pointer)}: appears twice` }));
}

function findFindings(places: ParsedJson): readonly SettingsFinding[] {
  const { value, findOffset } = places;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const text = JSON.stringify(value).slice(0, 80);
    return [{ offset: 0, message: `the settings must be an object such as {"port": 7475}, not ${text}` }];
  }
  if (!fits(value)) return removeDuplicates((fits.errors ?? []).map((error) => toFinding(error, findOffset)));
  const ofSources = checkSourceSettings(value, { reservedNames: RESERVED_NAMES, checkAddress }).map(
    ({ at, message }) => ({
      offset: findOffset(at),
      message: `${formatPointer(at)}: ${message}`,
    }),
  );
  return [...ofSources, ...checkNats(value.nats, findOffset), ...checkOpenerSetting(value, findOffset)];
}

function checkNats(nats: Settings['nats'], findOffset: ParsedJson['findOffset']): readonly SettingsFinding[] {
  if (nats === undefined) return [];
  try {
    parseNatsTarget(nats.url, SCOPE);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ offset: findOffset('/nats/url'), message: `nats.url: ${error.message}` }];
  }
}

/** Checks the opener with the same function that fills it in at a click. */
function checkOpenerSetting(
  { opener, urlSchemes }: Partial<Settings>,
  findOffset: ParsedJson['findOffset'],
): readonly SettingsFinding[] {
  if (opener === undefined) return [];
  try {
    checkOpener(opener, urlSchemes ?? SETTINGS.properties.urlSchemes.default);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return [{ offset: findOffset('/opener'), message: error.message }];
  }
}

function toFinding(error: ErrorObject, findOffset: ParsedJson['findOffset']): SettingsFinding {
  const { instancePath, keyword, params } = error as { instancePath: string; keyword: string; params: Params };
  if (params.additionalProperty !== undefined) {
    const pointer = `${instancePath}/${params.additionalProperty.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const reason = instancePath === '' ? 'unknown setting' : 'unknown key';
    return { offset: findOffset(pointer), message: `${formatPointer(pointer)}: ${reason}` };
  }
  const offset = findOffset(instancePath);
  const name = instancePath === '' ? 'settings' : formatPointer(instancePath);
  switch (keyword) {
    case 'enum':
      return { offset, message: `${name}: must be one of ${(params.allowedValues ?? []).join(', ')}` };
    case 'discriminator':
      return { offset, message: `${name}: "is" has an unknown value` };
    case 'pattern': {
      const { description } = error.parentSchema as { readonly description?: string };
      const rule =
        description === undefined ? error.message : `must be ${description}, not ${JSON.stringify(error.data)}`;
      return { offset, message: `${name}: ${rule}` };
    }
    default:
      return { offset, message: `${name}: ${error.message ?? keyword}` };
  }
}

interface Params {
  readonly additionalProperty?: string;
  readonly allowedValues?: readonly unknown[];
}

function removeDuplicates(findings: readonly SettingsFinding[]): readonly SettingsFinding[] {
  return findings.filter(
    (finding, index) => findings.findIndex(({ message }) => message === finding.message) === index,
  );
}

/** Formats a JSON pointer as a person writes it: `hives.0.base`. */
function formatPointer(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A parsed JSON text with the positions of its members. Offsets are in code units. */
type JsonLocations =
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
    const actual = at >= text.length ? 'the text ends here' : `found ${JSON.stringify(text.charAt(at))}`;
    return new JsonSyntaxError(at, `expected ${expectation}, but ${actual}`);
  };

  function value(pointer: string, depth: number): void {
    if (depth > DEEPEST) throw new JsonSyntaxError(at, `nested deeper than ${DEEPEST} levels`);
    const first = next();
    if (first === '{') object(pointer, depth);
    else if (first === '[') list(pointer, depth);
    else if (take(STRING) === null && take(SCALAR) === null)
      throw expected(first === '"' ? 'a complete string' : 'a value');
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
    if (at < text.length) throw expected('the end of the text');
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
