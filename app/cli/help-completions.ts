import {
  type Command,
  type CommandEntry,
  type Completion,
  listFlags,
  type TextCommand,
} from '../../core/command/index.ts';

/** The words that may follow a command, according to its usage and help. */
export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  /** Words that can come first, such as `list` and `show`. */
  readonly verbs: readonly string[];
  readonly flags: readonly CommandFlag[];
  /** The kind of the other arguments. */
  readonly arguments: ArgumentKind;
}

export interface CommandFlag {
  readonly name: string;
  /** The value that follows the flag; null when it takes none. */
  readonly value: ArgumentKind | { readonly is: 'words'; readonly words: readonly string[] } | null;
}

export type ArgumentKind = { readonly is: 'persona' | 'file' | 'text' };

/**
 * Collects what a shell can complete for each command. The words come from the usage lines, so every flag in the help is also
 * completed, and nothing is written twice.
 */
export async function loadCommandWords(
  commands: Readonly<Record<string, CommandEntry>>,
): Promise<readonly CommandWords[]> {
  return await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) =>
      toCommandWords(name, summary, (await load()).command),
    ),
  );
}

function toCommandWords(name: string, summary: string, command: Command | TextCommand): CommandWords {
  if (!('schema' in command)) return parseCommandWords(name, summary, command);
  const { schema } = command;
  const positionals = [schema, ...Object.values(schema.verbs ?? {})].flatMap((grammar) =>
    Object.values(grammar.positionals ?? {}),
  );
  const flags = Object.entries(listFlags(schema)).map(([flag, spec]) => ({
    name: `--${flag}`,
    value: spec.type === 'boolean' ? null : toKind(spec.completes ?? spec.choices),
  }));
  return {
    name,
    summary,
    verbs:
      schema.verbs === undefined
        ? positionals.flatMap(({ choices = [] }) => choices)
        : [...new Set(Object.keys(schema.verbs).map((verb) => verb.split(' ')[0] ?? ''))],
    flags: [{ name: '--help', value: null }, ...flags],
    arguments: { is: positionals.some(({ completes }) => completes === 'persona') ? 'persona' : 'text' },
  };
}

function toKind(completes: Completion | undefined): CommandFlag['value'] {
  if (completes === undefined) return { is: 'text' };
  return typeof completes === 'string' ? { is: completes } : { is: 'words', words: completes };
}

const FLAG = /(--[a-z][a-z-]*)(?: (\w[\w|-]*))?/g;
const HELP_FLAG = /^ {2}(--[a-z][a-z-]*)(?: (<[^>]+>|[A-Z][A-Z_]*|[a-z0-9-]+(?:\|[a-zA-Z0-9-]+)+)(?= |,|$))?/;

export function parseCommandWords(
  name: string,
  summary: string,
  { usage, about }: Pick<TextCommand, 'usage' | 'about'>,
): CommandWords {
  const flags = new Map<string, CommandFlag>([['--help', { name: '--help', value: null }]]);
  const put = (flag: string, value: string | undefined): void => {
    if (flags.get(flag)?.value == null) flags.set(flag, { name: flag, value: parseKind(flag, value) });
  };
  for (const line of about) {
    const [, flag, value] = HELP_FLAG.exec(line) ?? [];
    if (flag !== undefined) put(flag, value);
  }
  for (const [, flag = '', value] of usage.matchAll(FLAG)) put(flag, value);
  const rest = usage.replace(FLAG, '').slice(name.length);
  return {
    name,
    summary,
    verbs: parseVerbs(rest),
    flags: [...flags.values()],
    arguments: { is: /\bPERSONA\b/.test(rest) ? 'persona' : 'text' },
  };
}

/**
 * Finds the words in lower case that begin an alternative, as in `list|show|read PERSONA` or `add URL | list | remove
 * NAME|URL`.
 */
function parseVerbs(rest: string): readonly string[] {
  return /^ +[a-z]/.test(rest) ? [...rest.matchAll(/(?:^ +|\|\s*)([a-z]+)/g)].map(([, verb = '']) => verb) : [];
}

function parseKind(flag: string, value: string | undefined): CommandFlag['value'] {
  if (value === undefined) return null;
  if (/^PERSONAS?$/.test(value) || flag === '--persona') return { is: 'persona' };
  if (value.startsWith('<')) return { is: value === '<path>' ? 'file' : 'text' };
  // Words in lower case are typed literally; words in capitals are placeholders.
  const words = value.split('|').filter((word) => word === word.toLowerCase());
  if (words.length > 0) return { is: 'words', words };

  return { is: /^(FILE|PATH|DIR)$/.test(value) ? 'file' : 'text' };
}
