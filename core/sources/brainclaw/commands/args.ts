import { type CommandSchema, type ParsedValues, parseCommandLine, toUsageFault } from '../../../command/index.ts';

const JSON_FLAG = { type: 'boolean', help: 'print JSON for a script' } as const;
const PROJECT = {
  project: {
    type: 'string',
    value: 'PATH|ID',
    completes: 'file',
    help: 'a folder of the project, or the id of one that the settings name (default: the current folder)',
  },
  json: JSON_FLAG,
} as const;
const UNTIL = { type: 'string', value: 'SEQ', help: 'show the state at that record' } as const;
const count = (help: string) => ({ type: 'string', value: 'N', help }) as const;

export const BRAINCLAW_SCHEMA = {
  name: 'brainclaw',
  about: [
    'Shows a brainclaw project: its board and the mail of its agents. All verbs but act and simulate only read the files of its',
    'store. Nothing is written, locked or started there, and no mail is marked.',
  ],
  verbs: {
    board: {
      help: 'show what needs attention, and counts of everything',
      flags: { ...PROJECT, until: UNTIL },
    },
    attention: {
      help: 'show what needs a person: why, what, who, and since which record',
      flags: { ...PROJECT, until: UNTIL },
    },
    activity: {
      help: 'show sessions, progress and notes, newest last',
      flags: { ...PROJECT, until: UNTIL, limit: count('show N entries (default 20, at most 200)') },
    },
    inbox: {
      help: 'show unread counts of all agents, or the messages of one',
      positionals: { agent: { value: 'AGENT', optional: true } },
      flags: PROJECT,
    },
    doctor: {
      help: 'check the store. Exit 0: no defects; 1: defects; 3: it cannot be read',
      flags: PROJECT,
    },
    tail: {
      help: 'print records as the board applies them, one line each; with --json also the effect of each',
      flags: {
        ...PROJECT,
        follow: { type: 'boolean', short: 'f', help: 'follow new records; wait for a journal that is off' },
        lines: { type: 'string', value: 'N', short: 'n', help: 'start with the last N records (default 10)' },
        since: { type: 'string', value: 'SEQ', help: 'start after this sequence number; 0: all' },
        'stat-only': { type: 'boolean', help: 'check every 10 s, for disks that report no changes' },
      },
    },
    act: {
      help: 'have brainclaw act on an item, if the setting brainclaw.actions allows it. Exit 3: it is not installed, and the call is printed. DO is accept or reject (a candidate; reject also what an action asks for), resolve or cancel (an action: grants or answers it, or withdraws it), release (the claim of an agent), start, finish, block or drop (a plan), complete-step (of a plan), ack (a message to yourself)',
      positionals: {
        action: {
          value: 'DO',
          optional: true,
          completes: [
            'accept',
            'reject',
            'resolve',
            'cancel',
            'release',
            'start',
            'finish',
            'block',
            'drop',
            'complete-step',
            'ack',
          ],
        },
        item: { value: 'ITEM', optional: true },
      },
      flags: {
        ...PROJECT,
        text: { type: 'string', help: 'the reason, or the answer' },
        step: { type: 'string', value: 'ID', help: 'with complete-step: which step' },
      },
    },
    simulate: {
      help: 'write a simulated store for tests; the same seed makes the same store',
      flags: {
        to: {
          type: 'string',
          value: 'DIR',
          completes: 'file',
          required: true,
          help: 'the folder; a store that was not simulated is never changed',
        },
        json: JSON_FLAG,
        records: count('number of records in the journal (default 500)'),
        agents: count('number of agents (default 4)'),
        attention: count('number of items that need a person (default 5)'),
        handoffs: count('number of open handoffs (default 10)'),
        'handoff-bytes': { type: 'string', value: 'B', help: 'size of each handoff (default 1000)' },
        seed: { type: 'string', value: 'S', help: 'the same seed makes the same store (default 1)' },
        roll: { type: 'string', value: 'BYTES', help: 'start a new segment at this size (default 10 MiB)' },
        'follow-rate': { type: 'string', value: 'R', help: 'then append R records per second until stopped' },
      },
    },
  },
  notes: [
    'Exit codes: 0 done; 1 failed, no project, or the journal is off; 2 wrong usage; of doctor and act see above.',
  ],
  examples: [
    { run: 'hivebar brainclaw attention', does: 'what needs you in the project of this folder' },
    { run: 'hivebar brainclaw inbox codex --project ~/src/app', does: 'the mail of one agent' },
    { run: 'hivebar brainclaw act reject cnd_12 --text "too narrow"', does: 'reject a candidate' },
    { run: 'hivebar brainclaw tail --follow --json', does: 'every record as it comes' },
  ],
} as const satisfies CommandSchema;

type BrainclawValues = ParsedValues<typeof BRAINCLAW_SCHEMA>;
type BrainclawFlagName<T> = T extends unknown ? Exclude<keyof T, 'verb' | 'agent' | 'action' | 'item'> : never;

export type BrainclawVerb = BrainclawValues['verb'];

/** The flags of any verb; those of other verbs are undefined. */
export type BrainclawFlags = {
  readonly [K in BrainclawFlagName<BrainclawValues>]?: Extract<BrainclawValues, { readonly [P in K]: unknown }>[K];
};
type NumberFlag = Exclude<BrainclawFlagName<BrainclawValues>, 'json' | 'follow' | 'stat-only'>;

export interface BrainclawArgs {
  readonly verb: BrainclawVerb;
  /** The words after the verb. */
  readonly words: readonly string[];
  readonly flags: BrainclawFlags;
}

const POSITIONALS: readonly string[] = ['agent', 'action', 'item'];

/** @throws Fault `usage` */
export function parseBrainclawArgs(args: readonly string[]): BrainclawArgs {
  const values = parseCommandLine(BRAINCLAW_SCHEMA, args);
  const { verb, ...flags } = values;
  const empty = Object.entries(flags).find(([name, value]) => value === '' && !POSITIONALS.includes(name));
  if (empty !== undefined) throw toUsageFault(new Error(`--${empty[0]} is empty`));
  if (values.verb === 'tail' && values.lines !== undefined && values.since !== undefined)
    throw toUsageFault(new Error('use only one of --lines and --since'));
  return { verb, words: listWords(values), flags };
}

function listWords(values: BrainclawValues): readonly string[] {
  const words = values.verb === 'inbox' ? [values.agent] : values.verb === 'act' ? [values.action, values.item] : [];
  return words.filter((word) => word !== undefined);
}

/**
 * Parses a flag's value as a whole number.
 * @throws Fault `usage`
 */
export function parseWholeNumber(flags: BrainclawFlags, flag: NumberFlag, least: number): number | null {
  const text = flags[flag];
  if (text === undefined) return null;
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < least)
    throw toUsageFault(new Error(`--${flag} ${text}: must be a whole number${least > 0 ? `, ${least} or more` : ''}`));
  return value;
}
