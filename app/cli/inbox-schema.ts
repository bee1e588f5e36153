import type { CommandSchema, ParsedValues } from '../../core/command/index.ts';
import { PUSH_FIELDS } from '../../core/inbox/index.ts';

const LIMIT = { type: 'string', value: 'N', parse: parseWholeNumber, help: 'at most N (default: 20)' } as const;
const PERSONA = { value: 'PERSONA', completes: 'persona' } as const;
const IDS = { value: 'ID', optional: true, many: true, parse: parseWholeNumber } as const;

const takesPersona = (verb: string) =>
  ({ ...PERSONA, missing: `inbox ${verb}: PERSONA is missing: use the name of a persona` }) as const;

export const INBOX_SCHEMA = {
  name: 'inbox',
  about: [],
  flags: { json: { type: 'boolean', help: 'print JSON for a script' } },
  verbs: {
    list: {
      help: 'list the newest messages: * unread, ! urgent; with --json each whole',
      positionals: { persona: { ...PERSONA, optional: true } },
      flags: {
        limit: LIMIT,
        pending: { type: 'boolean', help: 'list items that were neither shown to a session nor read' },
        delivered: { type: 'boolean', help: 'list items that were shown to a session' },
        all: { type: 'boolean', help: 'list all items with their state' },
      },
    },
    show: {
      help: 'show messages in full (without ID: the newest); marks nothing',
      positionals: { persona: takesPersona('show'), ids: IDS },
      flags: { limit: LIMIT },
    },
    read: {
      help: 'show messages and mark them as read (without ID: all unread ones)',
      positionals: { persona: takesPersona('read'), ids: IDS },
      flags: { limit: LIMIT },
    },
    search: {
      help: 'list the newest messages of all inboxes that have all these words; marks nothing',
      positionals: { words: { value: 'WORDS', many: true, missing: 'inbox search: WORDS are missing' } },
      flags: { limit: LIMIT },
    },
    push: {
      help: 'push an item that an agent is shown between its turns; without TEXT it is read from stdin',
      positionals: { words: { value: 'TEXT', optional: true, many: true } },
      flags: {
        to: { type: 'string', value: 'PERSONA', completes: 'persona', help: PUSH_FIELDS.to.description },
        bead: { type: 'string', value: 'PERSONA', completes: 'persona', help: 'the same as --to' },
        session: {
          type: 'string',
          value: 'ID',
          help: PUSH_FIELDS.session.description,
        },
        broadcast: { type: 'boolean', help: PUSH_FIELDS.broadcast.description },
        create: { type: 'boolean', help: PUSH_FIELDS.create.description },
        type: {
          type: 'string',
          value: 'TYPE',
          completes: PUSH_FIELDS.type.enum,
          help: PUSH_FIELDS.type.description,
        },
        source: {
          type: 'string',
          value: 'NAME',
          help: `${PUSH_FIELDS.source.description} (default: HIVEBAR_PERSONA, else cli)`,
        },
        priority: {
          type: 'string',
          value: '0|1|2|3|4',
          completes: PUSH_FIELDS.priority.enum.map(String),
          help: PUSH_FIELDS.priority.description,
        },
        ttl: { type: 'string', value: 'SPAN', help: PUSH_FIELDS.ttl.description },
        'dedup-key': {
          type: 'string',
          value: 'KEY',
          help: `${PUSH_FIELDS.dedup_key.description}; --json reports which ("new"), and exits with 3 if it existed already`,
        },
      },
    },
    drain: {
      help: 'print the pending items of an agent and mark those that were written as delivered; always exits with 0',
      positionals: { persona: { ...PERSONA, optional: true } },
      flags: {
        session: {
          type: 'string',
          value: 'ID',
          help: 'include items for only that session; without PERSONA, drain the persona that announced it',
        },
        reconcile: { type: 'boolean', help: 'accepted for compatibility and ignored: every drain reads the database' },
      },
    },
  },
  notes: ['Without PERSONA, list and drain use HIVEBAR_PERSONA.'],
  examples: [
    { run: 'hivebar inbox list ada', does: 'the newest messages of ada, one line each' },
    { run: 'hivebar inbox show ada 12', does: 'one message in full' },
    { run: 'hivebar inbox search main is red', does: 'messages of all inboxes with these words' },
    { run: 'hivebar inbox read ada', does: 'all unread mail, which is then marked as read' },
    {
      run: 'hivebar inbox push --to ada --type alert --source ci --priority 0 "main is red"',
      does: 'an item that is shown before all others',
    },
    { run: 'hivebar inbox drain --session 7f3c', does: 'what a hook shows the agent' },
  ],
} as const satisfies CommandSchema;

type AnyInboxValues = ParsedValues<typeof INBOX_SCHEMA>;

/** What a command line of this verb says. */
export type InboxValues<V extends AnyInboxValues['verb'] = AnyInboxValues['verb']> = Extract<
  AnyInboxValues,
  { readonly verb: V }
>;

function parseWholeNumber(text: string): number {
  const n = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(n) && n > 0) return n;
  throw new Error(`${text} is not a whole number above 0`);
}
