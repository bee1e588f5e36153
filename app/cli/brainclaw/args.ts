import { parseArgs } from 'node:util';
import { toUsageFault } from '../../../core/command/index.ts';

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

type BrainclawOption = keyof typeof OPTIONS;

interface BrainclawVerbSpec {
  readonly needs: readonly BrainclawOption[];
  readonly also: readonly BrainclawOption[];
  /** How many words may follow the verb. */
  readonly words: number;
}

const defineProjectVerb = (also: readonly BrainclawOption[], words = 0): BrainclawVerbSpec => ({
  needs: [],
  also: ['project', 'json', ...also],
  words,
});

const TAKES = {
  board: defineProjectVerb(['until']),
  attention: defineProjectVerb(['until']),
  activity: defineProjectVerb(['until', 'limit']),
  inbox: defineProjectVerb([], 1),
  doctor: defineProjectVerb([]),
  tail: defineProjectVerb(['follow', 'lines', 'since', 'stat-only']),
  act: defineProjectVerb(['text', 'step'], 2),
  simulate: {
    needs: ['to'],
    also: ['json', 'records', 'agents', 'attention', 'handoffs', 'handoff-bytes', 'follow-rate', 'seed', 'roll'],
    words: 0,
  },
} as const satisfies Record<string, BrainclawVerbSpec>;

export type BrainclawVerb = keyof typeof TAKES;

export type BrainclawFlags = {
  readonly [K in BrainclawOption]?: (typeof OPTIONS)[K]['type'] extends 'boolean' ? boolean : string;
};

export interface BrainclawArgs {
  readonly verb: BrainclawVerb;
  /** The words after the verb. */
  readonly words: readonly string[];
  readonly flags: BrainclawFlags;
}

/** @throws Fault `usage` */
export function parseBrainclawArgs(args: readonly string[]): BrainclawArgs {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [verb = '', ...words] = positionals;
    if (!isVerb(verb)) throw new Error(`say ${Object.keys(TAKES).slice(0, -1).join(', ')} or simulate`);
    const { needs, also, words: most }: BrainclawVerbSpec = TAKES[verb];
    const foreign = Object.keys(values).find((flag) => ![...needs, ...also].includes(flag as BrainclawOption));
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
    throw toUsageFault(error);
  }
}

/**
 * Parses a flag's value as a whole number.
 * @throws Fault `usage`
 */
export function parseWholeNumber(
  flags: BrainclawFlags,
  flag: Exclude<BrainclawOption, 'json' | 'follow' | 'stat-only'>,
  least: number,
): number | null {
  const text = flags[flag];
  if (text === undefined) return null;
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < least)
    throw toUsageFault(new Error(`--${flag} ${text}: must be a whole number${least > 0 ? `, ${least} or more` : ''}`));
  return value;
}

function isVerb(word: string): word is BrainclawVerb {
  return Object.hasOwn(TAKES, word);
}
