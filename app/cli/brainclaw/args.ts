import { parseArgs } from 'node:util';
import { usage } from '../outcome.ts';

const OPTIONS = {
  project: { type: 'string' },
  json: { type: 'boolean' },
  until: { type: 'string' },
  limit: { type: 'string' },
  follow: { type: 'boolean', short: 'f' },
  lines: { type: 'string', short: 'n' },
  since: { type: 'string' },
  'stat-only': { type: 'boolean' },
  to: { type: 'string' },
  records: { type: 'string' },
  agents: { type: 'string' },
  attention: { type: 'string' },
  handoffs: { type: 'string' },
  'handoff-bytes': { type: 'string' },
  'follow-rate': { type: 'string' },
  seed: { type: 'string' },
  roll: { type: 'string' },
  text: { type: 'string' },
  step: { type: 'string' },
} as const;

type Option = keyof typeof OPTIONS;

interface Takes {
  readonly needs: readonly Option[];
  readonly also: readonly Option[];
  /** How many words may follow. */
  readonly words: number;
}

const ofProject = (also: readonly Option[], words = 0): Takes => ({
  needs: [],
  also: ['project', 'json', ...also],
  words,
});

const TAKES = {
  board: ofProject(['until']),
  attention: ofProject(['until']),
  activity: ofProject(['until', 'limit']),
  inbox: ofProject([], 1),
  doctor: ofProject([]),
  tail: ofProject(['follow', 'lines', 'since', 'stat-only']),
  act: ofProject(['text', 'step'], 2),
  simulate: {
    needs: ['to'],
    also: ['json', 'records', 'agents', 'attention', 'handoffs', 'handoff-bytes', 'follow-rate', 'seed', 'roll'],
    words: 0,
  },
} as const satisfies Record<string, Takes>;

export type BrainclawVerb = keyof typeof TAKES;

export type BrainclawFlags = {
  readonly [K in Option]?: (typeof OPTIONS)[K]['type'] extends 'boolean' ? boolean : string;
};

export interface BrainclawArgs {
  readonly verb: BrainclawVerb;
  /** What follows the verb and is no flag. */
  readonly words: readonly string[];
  readonly flags: BrainclawFlags;
}

/** @throws Fault `usage` */
export function brainclawArgs(args: readonly string[]): BrainclawArgs {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [verb = '', ...words] = positionals;
    if (!isVerb(verb)) throw new Error(`say ${Object.keys(TAKES).slice(0, -1).join(', ')} or simulate`);
    const { needs, also, words: most }: Takes = TAKES[verb];
    const foreign = Object.keys(values).find((flag) => ![...needs, ...also].includes(flag as Option));
    if (foreign !== undefined) throw new Error(`brainclaw ${verb} takes no --${foreign}`);
    const missing = needs.find((flag) => values[flag] === undefined);
    if (missing !== undefined) throw new Error(`brainclaw ${verb}: say --${missing}`);
    const empty = Object.entries(values).find(([, value]) => value === '');
    if (empty !== undefined) throw new Error(`--${empty[0]} is empty`);
    if (words.length > most) throw new Error(`brainclaw ${verb}: ${words.slice(most).join(' ')} is too much`);
    if (values.lines !== undefined && values.since !== undefined)
      throw new Error('give only one of --lines and --since');
    return { verb, words, flags: values };
  } catch (error) {
    throw usage(error);
  }
}

/**
 * A flag's value as a whole number.
 * @throws Fault `usage`
 */
export function wholeOf(
  flags: BrainclawFlags,
  flag: Exclude<Option, 'json' | 'follow' | 'stat-only'>,
  least: number,
): number | null {
  const text = flags[flag];
  if (text === undefined) return null;
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < least)
    throw usage(new Error(`--${flag} ${text}: must be a whole number${least > 0 ? `, ${least} or more` : ''}`));
  return value;
}

function isVerb(word: string): word is BrainclawVerb {
  return Object.hasOwn(TAKES, word);
}
