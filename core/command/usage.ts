import type { CommandSchema, FlagSchema, FlagSchemas, PositionalSchema, VerbSchema } from './schema.ts';

/** More optional flags than this are not listed in the usage line. */
const MOST_LISTED = 4;

/** Lists the command lines that the schema accepts, without the name of the program: one per verb. */
export function formatUsage(schema: CommandSchema): readonly string[] {
  const { name, verbs = {} } = schema;
  const own = formatLine(schema.isDefault ? `[${name}]` : name, schema, schema);
  if (schema.verbs === undefined) return [own];
  return [
    ...(schema.isVerbOptional ? [own] : []),
    ...Object.entries(verbs).map(([verb, spec]) => formatLine(`${name} ${verb}`, spec, schema)),
  ];
}

function formatLine(
  words: string,
  { flags, positionals = {}, rest }: Pick<VerbSchema, 'flags' | 'positionals' | 'rest'>,
  schema: CommandSchema,
): string {
  const all = Object.entries({ ...(schema.isVerbOptional ? {} : schema.flags), ...flags });
  const required = all.filter(([, flag]) => isRequired(flag)).map(([name, flag]) => formatFlag(name, flag));
  const optional = all.filter(([, flag]) => !isRequired(flag)).map(([name, flag]) => `[${formatFlag(name, flag)}]`);
  const after = rest ?? schema.rest;
  return [
    words,
    ...required,
    ...(optional.length > MOST_LISTED ? ['[FLAGS]'] : optional),
    ...Object.values(positionals).map(formatPositional),
    ...(after === undefined ? [] : [`[-- ${after.value}]`]),
  ].join(' ');
}

function isRequired(flag: FlagSchema): boolean {
  return flag.type !== 'boolean' && flag.required === true;
}

function formatPositional({ value, optional, many, choices }: PositionalSchema): string {
  const word = `${choices?.join('|') ?? value}${many ? '...' : ''}`;
  return optional ? `[${word}]` : word;
}

/** Formats a flag as it is typed: `--limit N`. */
export function formatFlag(name: string, flag: FlagSchema): string {
  return flag.type === 'boolean' ? `--${name}` : `--${name} ${formatPlaceholder(flag)}`;
}

function formatPlaceholder(flag: Exclude<FlagSchema, { readonly type: 'boolean' }>): string {
  if (flag.value !== undefined) return flag.value;
  if (flag.choices !== undefined) return flag.choices.join('|');
  return { string: 'TEXT', choice: 'WORD', number: 'N', duration: 'SPAN' }[flag.type];
}

/** Formats what a flag does, with its default, its short form and its negation. */
export function formatFlagHelp(name: string, flag: FlagSchema): string {
  const details = [
    ...(flag.short === undefined ? [] : [`short: -${flag.short}`]),
    ...(flag.type === 'boolean' && flag.negatable ? [`--no-${name} turns it off`] : []),
    ...(flag.type !== 'boolean' && flag.multiple ? ['may be repeated'] : []),
    ...(flag.type === 'boolean' || flag.default === undefined ? [] : [`default: ${flag.default}`]),
  ];
  return details.length === 0 ? flag.help : `${flag.help} (${details.join('; ')})`;
}

/** A part of the help: a heading with its text, and flags with theirs. */
export interface HelpSection {
  /** A command line of a verb, without the name of the command; null: the flags of the command. */
  readonly heading: string | null;
  readonly help: string | null;
  readonly flags: readonly { readonly flag: string; readonly help: string }[];
}

/** Lists everything that the help says about verbs and flags, in its order. Man page and reference are made of it too. */
export function listHelpSections(schema: CommandSchema): readonly HelpSection[] {
  const verbs = Object.entries(schema.verbs ?? {}).map(([verb, spec]) => ({
    heading: [
      verb,
      ...Object.values(spec.positionals ?? {}).map(formatPositional),
      ...(spec.rest === undefined ? [] : [`-- ${spec.rest.value}`]),
    ].join(' '),
    help: formatVerbHelp(spec),
    flags: [...listFlagHelp(spec.flags), ...listRestHelp(spec)],
  }));
  const own = [...listFlagHelp(schema.flags), ...listRestHelp(schema)];
  const shared = own.length === 0 ? [] : [{ heading: null, help: null, flags: own }];
  return schema.isVerbOptional ? [...shared, ...verbs] : [...verbs, ...shared];
}

function formatVerbHelp({ help, aliases = [] }: VerbSchema): string {
  return aliases.length === 0 ? help : `${help} (also: ${aliases.join(', ')})`;
}

function listFlagHelp(flags: FlagSchemas = {}) {
  return Object.entries(flags).map(([name, flag]) => ({
    flag: formatFlag(name, flag),
    help: formatFlagHelp(name, flag),
  }));
}

function listRestHelp({ rest }: Pick<VerbSchema, 'rest'>) {
  return rest === undefined ? [] : [{ flag: `-- ${rest.value}`, help: rest.help }];
}
