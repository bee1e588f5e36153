import { parseArgs } from 'node:util';
import { Fault } from '../model/index.ts';
import type {
  CommandSchema,
  FlagSchema,
  FlagSchemas,
  ParsedValues,
  PositionalSchemas,
  RestSchema,
  ValueFlagSchema,
  VerbSchema,
} from './schema.ts';

type RawFlags = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

interface ChosenVerb {
  /** Null: the command has no verbs, or was used without one. */
  readonly name: string | null;
  /** As it was typed, for messages. */
  readonly typed: string;
  readonly words: readonly string[];
}

/**
 * Parses the arguments of a command.
 * @throws Fault `usage` that names the flag and the value
 */
export function parseCommandLine<const S extends CommandSchema>(schema: S, args: readonly string[]): ParsedValues<S> {
  try {
    return parseValues(schema, args) as ParsedValues<S>;
  } catch (error) {
    throw toUsageFault(error);
  }
}

/** Converts the error of a command line that does not parse into the Fault that exits with 2. */
export function toUsageFault(error: unknown): Fault {
  if (error instanceof Fault && error.code === 'usage') return error;
  const message = formatNodeError(error) ?? (error instanceof Error ? error.message : String(error));
  return new Fault('usage', message, { is: 'machine', key: 'usage' }, { cause: error });
}

/** Rewords an error of `parseArgs` in the form of our own messages. Null: it is another error. */
function formatNodeError(error: unknown): string | null {
  if (!(error instanceof TypeError) || !('code' in error)) return null;
  const [, name = ''] = /'(?:-\w, )?(-[^' ]*)/.exec(error.message) ?? [];
  switch (error.code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION':
      return `unknown flag ${name}`;
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return formatUnexpected([/'(.*?)'/s.exec(error.message)?.[1] ?? '']);
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      if (error.message.includes('does not take')) return `${name} takes no value`;
      if (error.message.includes('ambiguous')) return `${name}: write a value that begins with a dash as ${name}=VALUE`;
      return `${name}: its value is missing`;
    default:
      return null;
  }
}

/** Formats the message for words that a command does not take. */
function formatUnexpected(words: readonly string[]): string {
  return `unexpected argument${words.length === 1 ? '' : 's'} ${words.join(' ')}`;
}

/** Formats the message for a word that is missing or is not among the choices. */
export function formatExpected(choices: readonly string[], word?: string): string {
  return `expected ${joinWithOr(choices)}${word === undefined ? '' : `, not ${word}`}`;
}

/** Formats the message for a value that is not among the choices. `name` is the flag or field. */
function formatWrongChoice(name: string, text: string, choices: readonly string[]): string {
  return `${name} ${text}: must be ${joinWithOr(choices)}`;
}

/** Lists every flag that the command accepts with any of its verbs. */
export function listFlags(schema: CommandSchema): FlagSchemas {
  const verbFlags = Object.values(schema.verbs ?? {}).flatMap(({ flags = {} }) => Object.entries(flags));
  const flags = new Map<string, FlagSchema>();
  for (const [name, flag] of [...Object.entries(schema.flags ?? {}), ...verbFlags])
    if (!flags.has(name)) flags.set(name, flag);
  return Object.fromEntries(flags);
}

function parseValues(schema: CommandSchema, args: readonly string[]): Readonly<Record<string, unknown>> {
  const { own, rest } = splitRest(schema, args);
  if (schema.isVerbFirst) chooseVerb(schema, own.slice(0, 1)); // no other flag is known before the verb is
  const flags = listKnownFlags(schema, own[0] ?? '');
  const allowPositionals = schema.verbs !== undefined || schema.positionals !== undefined;
  const { values, positionals } =
    readPlainWords(own, flags, allowPositionals) ??
    parseArgs({
      args: [...own],
      options: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, toOption(flag)])),
      allowPositionals,
      allowNegative: Object.values(flags).some((flag) => flag.type === 'boolean' && flag.negatable === true),
    });
  const chosen = chooseVerb(schema, positionals);
  const verb = chosen.name === null ? undefined : schema.verbs?.[chosen.name];
  const knownFlags = selectFlags(schema, verb);
  const foreign = Object.keys(values).find((name) => !Object.hasOwn(knownFlags, name));
  if (foreign !== undefined) throw new Error(formatForeign(schema, chosen.typed, foreign));
  const prefix = chosen.name === null ? schema.name : `${schema.name} ${chosen.typed}`;
  const takesRest = findRest(schema, verb) !== undefined;
  if (rest !== null && rest.length > 0 && !takesRest) throw new Error(`${prefix}: unexpected command after --`);
  return {
    ...(schema.verbs === undefined ? {} : { verb: chosen.name }),
    ...parseFlags(knownFlags, values, prefix),
    ...parsePositionals(verb ?? schema, chosen.words, prefix, takesRest),
    ...(takesRest ? { rest } : {}),
  };
}

/**
 * Reads words and flags without a value, as most command lines of quick commands are: loading the parser of Node would take a
 * thirtieth of their start. Null: there is something else, or something wrong.
 */
function readPlainWords(
  args: readonly string[],
  flags: FlagSchemas,
  allowPositionals: boolean,
): { readonly values: RawFlags; readonly positionals: readonly string[] } | null {
  const positionals = args.filter((arg) => !arg.startsWith('-'));
  const names = args.filter((arg) => arg.startsWith('-')).map((arg) => (arg.startsWith('--') ? arg.slice(2) : ''));
  const areKnown = names.every((name) => Object.hasOwn(flags, name) && flags[name]?.type === 'boolean');
  if (!areKnown || (positionals.length > 0 && !allowPositionals)) return null;
  return { values: Object.fromEntries(names.map((name) => [name, true])), positionals };
}

/** Lists the flags that a command line with this first word may hold, before its verb is known. */
function listKnownFlags(schema: CommandSchema, first: string): FlagSchemas {
  const { verbs = {}, isVerbFirst, isVerbOptional } = schema;
  if (!isVerbFirst && !isVerbOptional) return listFlags(schema);
  return selectFlags(schema, Object.hasOwn(verbs, first) ? verbs[first] : undefined);
}

function splitRest(
  schema: CommandSchema,
  args: readonly string[],
): { readonly own: readonly string[]; readonly rest: readonly string[] | null } {
  const hasRest = [schema, ...Object.values(schema.verbs ?? {})].some(({ rest }) => rest !== undefined);
  const end = hasRest ? args.indexOf('--') : -1;
  return end === -1 ? { own: args, rest: null } : { own: args.slice(0, end), rest: args.slice(end + 1) };
}

function findRest(schema: CommandSchema, verb: VerbSchema | undefined): RestSchema | undefined {
  return verb?.rest ?? schema.rest;
}

function selectFlags(schema: CommandSchema, verb: VerbSchema | undefined): FlagSchemas {
  if (verb === undefined) return schema.flags ?? {};
  return schema.isVerbOptional ? (verb.flags ?? {}) : { ...schema.flags, ...verb.flags };
}

function toOption(flag: FlagSchema) {
  return {
    type: flag.type === 'boolean' ? ('boolean' as const) : ('string' as const),
    ...(flag.short === undefined ? {} : { short: flag.short }),
    ...(flag.type !== 'boolean' && flag.multiple ? { multiple: true } : {}),
  };
}

function chooseVerb(schema: CommandSchema, words: readonly string[]): ChosenVerb {
  const { verbs } = schema;
  if (verbs === undefined) return { name: null, typed: '', words };
  for (const count of [1, 2]) {
    const typed = words.slice(0, count).join(' ');
    const name = Object.hasOwn(verbs, typed)
      ? typed
      : Object.keys(verbs).find((known) => verbs[known]?.aliases?.includes(typed));
    if (name !== undefined && words.length >= count) return { name, typed, words: words.slice(count) };
  }
  if (schema.isVerbOptional) return { name: null, typed: '', words };
  const verbNames = Object.keys(verbs).filter((name) => verbs[name]?.internal !== true);
  const [first, second] = words;
  const seconds = verbNames
    .filter((name) => name.startsWith(`${first} `))
    .map((name) => name.slice(`${first} `.length));
  if (seconds.length > 0) throw new Error(`${schema.name} ${first}: ${formatExpected(seconds, second)}`);
  throw new Error(formatExpected([...new Set(verbNames.map((name) => name.split(' ')[0] ?? name))], first));
}

/** Joins words for a sentence: `a, b or c`. */
export function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function formatForeign(schema: CommandSchema, typed: string, flag: string): string {
  return `${[schema.name, typed].join(' ').trim()}: unknown flag --${flag}`;
}

function parseFlags(flags: FlagSchemas, values: RawFlags, prefix: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, parseFlag(name, flag, values[name], prefix)]),
  );
}

function parseFlag(name: string, flag: FlagSchema, value: RawFlags[string], prefix: string): unknown {
  if (flag.type === 'boolean') return flag.negatable ? value : value === true;
  if (flag.multiple)
    return Array.isArray(value) ? value.map((text) => parseValue(flag, String(text), `--${name}`)) : [];
  const text = value ?? flag.default;
  if (text === undefined && flag.required) throw new Error(`${prefix}: --${name} is missing`);
  return text === undefined ? undefined : parseValue(flag, String(text), `--${name}`);
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function parseValue(flag: ValueFlagSchema, text: string, name: string): unknown {
  if (flag.parse !== undefined) return flag.parse(text, name);
  switch (flag.type) {
    case 'string':
      return text;
    case 'choice': {
      const { choices = [] } = flag;
      if (choices.includes(text)) return text;
      throw new Error(formatWrongChoice(name, text, choices));
    }
    case 'number':
      return parseNumber(flag, text, name);
    case 'duration':
      return parseDuration(text, name);
  }
}

function parseNumber({ least, most, whole }: ValueFlagSchema, text: string, name: string): number {
  const isWhole = whole !== false;
  const n = (isWhole ? /^\d{1,15}$/ : /^\d{1,7}(\.\d{1,3})?$/).test(text) ? Number(text) : Number.NaN;
  if (n >= (least ?? 0) && n <= (most ?? Number.POSITIVE_INFINITY)) return n;
  const kind = `must be a ${isWhole ? 'whole ' : ''}number`;
  if (least !== undefined && most !== undefined) throw new Error(`${name} ${text}: ${kind} from ${least} to ${most}`);
  throw new Error(`${name} ${text}: ${kind}${least === undefined || least === 0 ? '' : `, ${least} or more`}`);
}

/** Parses `90s`, `30m`, `2h` or `1d` into milliseconds. @throws Error which names the flag and the value */
export function parseDuration(text: string, name: string): number {
  const [, count, unit] = /^(\d{1,6}(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const ms = Math.round(Number(count) * UNITS[unit as keyof typeof UNITS]);
  if (ms > 0) return ms;
  throw new Error(`${name} ${text}: must be a duration, for example 90s, 30m, 2h or 1d`);
}

function parsePositionals(
  { positionals = {} }: { readonly positionals?: PositionalSchemas },
  words: readonly string[],
  prefix: string,
  takesRest: boolean,
): Readonly<Record<string, unknown>> {
  const rest = [...words];
  const values: Record<string, unknown> = {};
  for (const [name, { value, many, optional, missing, mayBeEmpty, choices, parse }] of Object.entries(positionals)) {
    const given = many ? rest.splice(0) : rest.splice(0, 1);
    const isMissing = given.length === 0 || (missing !== undefined && !mayBeEmpty && given[0] === '');
    if (isMissing && !optional) throw new Error(missing ?? `${prefix}: ${value} is missing`);
    const wrong = choices === undefined ? undefined : given.find((word) => !choices.includes(word));
    if (wrong !== undefined) throw new Error(formatWrongChoice(prefix, wrong, choices ?? []));
    const parsed = parse === undefined ? given : given.map((word) => parse(word));
    values[name] = many ? parsed : parsed[0];
  }
  if (rest.length > 0) {
    const hint = takesRest ? '; a command comes after --' : '';
    throw new Error(`${prefix}: ${formatUnexpected(rest)}${hint}`);
  }
  return values;
}

/** The parts of its process that a command may use. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout unchanged; the caller ends its lines. */
  out(text: string): void;
  /** Writes to stderr unchanged. */
  err(text: string): void;
  /** Reads all of stdin as UTF-8. */
  input(): Promise<string>;
}

/** The export `command` of a command's file. Its summary is in the table of commands, so that help need not load the file. */
export interface Command {
  readonly schema: CommandSchema;
  /**
   * @param args the arguments after the command's name
   * @param commands the whole table, for commands that print it
   * @returns the exit code
   * @throws Fault `usage` for a bad command line (exit 2), any other Fault for a failure (exit 1)
   */
  run(args: readonly string[], io: Io, commands: CommandTable): Promise<number>;
}

/** Where the help lists a command. */
export type CommandGroup = 'watch' | 'mail' | 'agents' | 'notifications' | 'setup';

export interface CommandEntry {
  /** What it does, in at most 65 characters, so that the help lists it in one line. */
  readonly summary: string;
  readonly group: CommandGroup;
  /**
   * `bare`: nothing. `store`: the database, which the command opens itself. `tray`: the running tray process, over its socket.
   */
  readonly needs: 'bare' | 'store' | 'tray';
  load(): Promise<{ readonly command: Command }>;
}

/** Commands by name, in the order of the help text. */
export type CommandTable = Readonly<Record<string, CommandEntry>>;

/** Creates a command whose `run` gets the values that its command line says. */
export function defineCommand<const S extends CommandSchema>(
  schema: S,
  run: (values: ParsedValues<S>, io: Io, commands: CommandTable) => Promise<number> | number,
): Command {
  return { schema, run: async (args, io, commands) => await run(parseCommandLine(schema, args), io, commands) };
}
