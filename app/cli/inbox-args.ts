import { parseArgs } from 'node:util';
import { toUsageFault } from '../../core/command/index.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  limit: { type: 'string' },
  all: { type: 'boolean' },
  pending: { type: 'boolean' },
  delivered: { type: 'boolean' },
  type: { type: 'string' },
  source: { type: 'string' },
  priority: { type: 'string' },
  to: { type: 'string' },
  bead: { type: 'string' },
  session: { type: 'string' },
  broadcast: { type: 'boolean' },
  ttl: { type: 'string' },
  'dedup-key': { type: 'string' },
  reconcile: { type: 'boolean' },
} as const;

type InboxOption = keyof typeof OPTIONS;

const TAKES = {
  list: ['json', 'limit', 'all', 'pending', 'delivered'],
  show: ['json', 'limit'],
  read: ['json', 'limit'],
  push: ['type', 'source', 'priority', 'to', 'bead', 'session', 'broadcast', 'ttl', 'dedup-key', 'json'],
  drain: ['session', 'reconcile', 'json'],
} as const satisfies Record<string, readonly InboxOption[]>;

export type InboxVerb = keyof typeof TAKES;

export type InboxFlags = {
  readonly [K in InboxOption]?: (typeof OPTIONS)[K]['type'] extends 'boolean' ? boolean : string;
};

export interface InboxArgs {
  readonly verb: InboxVerb;
  /** The words after the verb. */
  readonly words: readonly string[];
  readonly flags: InboxFlags;
}

/** @throws Fault `usage` */
export function parseInboxArgs(args: readonly string[]): InboxArgs {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [verb, ...words] = positionals;
    if (!isVerb(verb)) throw new Error('say list, show, read, push or drain');
    const takes: readonly string[] = TAKES[verb];
    const foreign = Object.keys(values).find((flag) => !takes.includes(flag));
    if (foreign !== undefined) throw new Error(`inbox ${verb} takes no --${foreign}`);
    return { verb, words, flags: values };
  } catch (error) {
    throw toUsageFault(error);
  }
}

function isVerb(word: string | undefined): word is InboxVerb {
  return word !== undefined && Object.hasOwn(TAKES, word);
}

/** @throws Fault `usage` */
export function parseWholeNumber(text: string): number {
  const n = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(n) && n > 0) return n;
  throw toUsageFault(new Error(`${text} is not a whole number above 0`));
}
