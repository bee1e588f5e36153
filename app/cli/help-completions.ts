import type { Command, CommandEntry } from './command.ts';

/** What may follow a command, as its usage and its help say. */
export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  /** Words of which one comes first: `list`, `show`. */
  readonly verbs: readonly string[];
  readonly flags: readonly CommandFlag[];
  /** What the other arguments are. */
  readonly arguments: ArgumentKind;
}

export interface CommandFlag {
  readonly name: string;
  /** What follows it; null: nothing. */
  readonly value: ArgumentKind | { readonly is: 'words'; readonly words: readonly string[] } | null;
}

export type ArgumentKind = { readonly is: 'persona' | 'file' | 'text' };

/**
 * What a shell can offer for each command. Taken from the usage lines, so that a flag that is in the help is in the
 * completion too, and nothing is said twice.
 */
export async function loadCommandWords(
  commands: Readonly<Record<string, CommandEntry>>,
): Promise<readonly CommandWords[]> {
  return await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) =>
      parseCommandWords(name, summary, (await load()).command),
    ),
  );
}

const FLAG = /(--[a-z][a-z-]*)(?: (\w[\w|-]*))?/g;
const HELP_FLAG = /^ {2}(--[a-z][a-z-]*)(?: (<[^>]+>|[A-Z][A-Z_]*|[a-z0-9-]+(?:\|[a-zA-Z0-9-]+)+)(?= |,|$))?/;

export function parseCommandWords(
  name: string,
  summary: string,
  { usage, about }: Pick<Command, 'usage' | 'about'>,
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

/** `list|show|read PERSONA`, or `add URL | list | remove NAME|URL`: words in lower case that begin an alternative. */
function parseVerbs(rest: string): readonly string[] {
  return /^ +[a-z]/.test(rest) ? [...rest.matchAll(/(?:^ +|\|\s*)([a-z]+)/g)].map(([, verb = '']) => verb) : [];
}

function parseKind(flag: string, value: string | undefined): CommandFlag['value'] {
  if (value === undefined) return null;
  if (/^PERSONAS?$/.test(value) || flag === '--persona') return { is: 'persona' };
  if (value.startsWith('<')) return { is: value === '<path>' ? 'file' : 'text' };
  // Words as they are typed; those in capitals stand for something else.
  const words = value.split('|').filter((word) => word === word.toLowerCase());
  if (words.length > 0) return { is: 'words', words };

  return { is: /^(FILE|PATH|DIR)$/.test(value) ? 'file' : 'text' };
}
