import { parseArgs } from 'node:util';
import { toUsageFault } from '../../../core/command/index.ts';

const OPTIONS = {
  store: { type: 'string' },
  json: { type: 'boolean' },
  id: { type: 'string' },
  backend: { type: 'string' },
  session: { type: 'string' },
  cwd: { type: 'string' },
  model: { type: 'string' },
  'no-model': { type: 'boolean' },
  transcript: { type: 'string' },
  'no-transcript': { type: 'boolean' },
  parent: { type: 'string' },
  'no-parent': { type: 'boolean' },
  entwurf: { type: 'boolean' },
  'no-entwurf': { type: 'boolean' },
  schema: { type: 'string' },
  'seed-compat': { type: 'boolean' },
  force: { type: 'boolean' },
  queue: { type: 'boolean' },
  as: { type: 'string' },
  'not-mine': { type: 'boolean' },
  pid: { type: 'string' },
  provenance: { type: 'string' },
  'owner-kind': { type: 'string' },
  capabilities: { type: 'string' },
} as const;

type GardenOption = keyof typeof OPTIONS;

const EVERY: readonly GardenOption[] = ['store', 'json'];

interface GardenVerbSpec {
  readonly needs: readonly GardenOption[];
  readonly also: readonly GardenOption[];
  /** What the remaining words are; null: none are accepted. */
  readonly words: 'text' | 'kind' | null;
}

const defineVerb = (
  needs: readonly GardenOption[],
  also: readonly GardenOption[] = [],
  words: GardenVerbSpec['words'] = null,
): GardenVerbSpec => ({
  needs,
  also,
  words,
});

const CLEARS = ['no-model', 'no-transcript', 'no-parent', 'no-entwurf'] as const;

const TAKES = {
  'record upsert': defineVerb(
    ['backend', 'session'],
    ['cwd', 'model', 'transcript', 'parent', 'entwurf', ...CLEARS, 'schema', 'force'],
  ),
  'record get': defineVerb(['id']),
  'record list': defineVerb([], ['seed-compat']),
  'record scan': defineVerb(['session']),
  'mail send': defineVerb(['id'], ['force', 'queue', 'as'], 'text'),
  'mail peek': defineVerb(['id']),
  'mail read': defineVerb(['id'], ['as', 'not-mine']),
  'receipt show': defineVerb(['id']),
  peers: defineVerb([]),
  'marker write': defineVerb(['id', 'pid'], ['provenance', 'owner-kind', 'cwd'], 'kind'),
  'marker show': defineVerb([], ['id']),
  doctor: defineVerb([], ['capabilities']),
  status: defineVerb([]),
  prune: defineVerb([]),
  'id new': defineVerb([]),
} as const satisfies Record<string, GardenVerbSpec>;

export type GardenVerb = keyof typeof TAKES;

/** Short forms of verbs. */
const ALIASES: Readonly<Record<string, GardenVerb>> = { list: 'record list' };

export type GardenFlags = {
  readonly [K in GardenOption]?: (typeof OPTIONS)[K]['type'] extends 'boolean' ? boolean : string;
};

export interface GardenArgs {
  readonly verb: GardenVerb;
  /** The words after the verb. */
  readonly words: readonly string[];
  readonly flags: GardenFlags;
}

/** @throws Fault `usage` */
export function parseGardenArgs(args: readonly string[]): GardenArgs {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const { verb, words } = parseVerb(positionals);
    const { needs, also, words: are }: GardenVerbSpec = TAKES[verb];
    const allowed: readonly string[] = [...needs, ...also, ...EVERY];
    const foreign = Object.keys(values).find((flag) => !allowed.includes(flag));
    if (foreign !== undefined) throw new Error(`garden ${verb} takes no --${foreign}`);
    const missing = needs.find((flag) => values[flag] === undefined);
    if (missing !== undefined) throw new Error(`garden ${verb}: say --${missing}`);
    if (values.store === '') throw new Error('--store is empty');
    const contrary = CLEARS.find(
      (flag) => values[flag] && values[flag.slice('no-'.length) as GardenOption] !== undefined,
    );
    if (contrary !== undefined) throw new Error(`--${contrary} and --${contrary.slice('no-'.length)} are contrary`);
    const excess = are === null ? words : are === 'kind' ? words.slice(1) : [];
    if (excess.length > 0) throw new Error(`garden ${verb}: ${excess.join(' ')} is too much`);
    return { verb, words, flags: values };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function parseVerb(positionals: readonly string[]): { readonly verb: GardenVerb; readonly words: readonly string[] } {
  const [first = '', second = ''] = positionals;
  const alias = Object.hasOwn(ALIASES, first) ? ALIASES[first] : undefined;
  if (alias !== undefined) return { verb: alias, words: positionals.slice(1) };
  if (isVerb(first)) return { verb: first, words: positionals.slice(1) };
  const verb = `${first} ${second}`;
  if (isVerb(verb)) return { verb, words: positionals.slice(2) };
  const seconds = Object.keys(TAKES).flatMap((name) => (name.startsWith(`${first} `) ? name.split(' ').slice(1) : []));
  if (seconds.length > 0) throw new Error(`garden ${first}: say ${joinWithOr(seconds)}`);
  const firsts = [...new Set(Object.keys(TAKES).map((name) => name.split(' ')[0] ?? ''))];
  throw new Error(`say ${joinWithOr([...firsts, ...Object.keys(ALIASES)])}`);
}

function isVerb(word: string): word is GardenVerb {
  return Object.hasOwn(TAKES, word);
}

function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
