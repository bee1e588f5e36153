import { parseArgs } from 'node:util';
import { toUsageFault } from '../../core/command/index.ts';

const VERBS = ['create', 'list', 'show', 'respond', 'wait', 'cancel'] as const;
export type DecisionVerb = (typeof VERBS)[number];

const FLAGS = {
  as: { type: 'string' },
  context: { type: 'string' },
  option: { type: 'string', multiple: true },
  'free-text': { type: 'boolean' },
  default: { type: 'string' },
  urgency: { type: 'string' },
  timeout: { type: 'string' },
  'max-iterations': { type: 'string' },
  refines: { type: 'string' },
  wait: { type: 'boolean' },
  limit: { type: 'string' },
  open: { type: 'boolean' },
  select: { type: 'string' },
  text: { type: 'string' },
  'accept-guidance': { type: 'boolean' },
  by: { type: 'string' },
  reason: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type DecisionFlag = keyof typeof FLAGS;

/** The flags that each verb takes in addition to `--json`. */
const TAKES: Readonly<Record<DecisionVerb, readonly DecisionFlag[]>> = {
  create: [
    'as',
    'context',
    'option',
    'free-text',
    'default',
    'urgency',
    'timeout',
    'max-iterations',
    'refines',
    'wait',
    'limit',
  ],
  list: ['as', 'open', 'limit'],
  show: [],
  respond: ['select', 'text', 'accept-guidance', 'by'],
  wait: ['limit'],
  cancel: ['by', 'reason'],
};

/** The verbs that take exactly one word, the number of a decision. */
const VERBS_WITH_ID: readonly DecisionVerb[] = ['show', 'respond', 'wait', 'cancel'];

/** Parses a command line of `hivebar decision` and checks its form. @throws Fault `usage` */
export function parseDecisionArgs(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: FLAGS, allowPositionals: true });
    const [word, ...words] = positionals;
    const verb = VERBS.find((name) => name === word);
    if (verb === undefined) throw new Error(`say ${VERBS.slice(0, -1).join(', ')} or ${VERBS.at(-1)}`);
    const foreign = Object.keys(values).find(
      (flag) => flag !== 'json' && !TAKES[verb].some((allowed) => allowed === flag),
    );
    if (foreign !== undefined) throw new Error(`decision ${verb} takes no --${foreign}`);
    const id = VERBS_WITH_ID.includes(verb) ? parseId(verb, words) : 0;
    if (verb === 'list' && words.length > 0) throw new Error(`decision list: ${words.join(' ')} is too much`);
    if (verb === 'create' && values.limit !== undefined && !values.wait) throw new Error('--limit is for --wait');
    return { ...values, verb, id, words } as const;
  } catch (error) {
    throw toUsageFault(error);
  }
}

export type DecisionArgs = ReturnType<typeof parseDecisionArgs>;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses `90s`, `30m`, `2h` or `1d` into milliseconds. @throws Fault `usage` */
export function parseMillis(flag: string, text: string): number {
  const [, count, unit] = /^(\d{1,6}(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const ms = Math.round(Number(count) * UNITS[unit as keyof typeof UNITS]);
  if (ms > 0) return ms;
  throw toUsageFault(new Error(`${flag} ${text}: say how long, as 90s, 30m, 2h or 1d`));
}

/** @throws Fault `usage` */
export function parseWholeNumber(label: string, text: string): number {
  const n = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(n) && n >= 1) return n;
  throw toUsageFault(new Error(`${label} ${text} is not a whole number above 0`));
}

/** Parses `ID=LABEL` or `ID:SHORT=LABEL`. @throws Fault `usage` */
export function parseOption(text: string): {
  readonly id: string;
  readonly short: string | null;
  readonly label: string;
} {
  const [, id, short = null, label] = /^([^=:]*)(?::([^=]*))?=([\s\S]*)$/.exec(text) ?? [];
  if (id === undefined || label === undefined)
    throw toUsageFault(new Error(`--option ${text}: say ID=LABEL, or ID:SHORT=LABEL with a short text for a button`));
  return { id, short, label };
}

function parseId(verb: DecisionVerb, [id, ...rest]: readonly string[]): number {
  if (id === undefined) throw new Error(`decision ${verb}: which one? Give its number`);
  if (rest.length > 0) throw new Error(`decision ${verb}: one at a time, not also ${rest.join(' ')}`);
  return parseWholeNumber('decision', id);
}
