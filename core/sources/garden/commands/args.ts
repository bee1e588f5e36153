import { type CommandSchema, type ParsedValues, parseCommandLine, toUsageFault } from '../../../command/index.ts';

const FORCE_WRITE = {
  type: 'boolean',
  help: 'write schema 3 beside older records, although entwurf then refuses all writes',
} as const;
const takesId = {
  type: 'string',
  value: 'GID',
  required: true,
  help: 'garden id of the citizen, for example 20260614T100151-bedab4',
} as const;
const FORCE = { type: 'boolean', help: 'send even if its backend reads no mailbox' } as const;
const AS = {
  type: 'string',
  value: 'GID',
  help: 'your garden id (default: HIVEBAR_PERSONA, else the citizen whose marker names a parent process of this command)',
} as const;
const CWD = {
  type: 'string',
  value: 'DIR',
  completes: 'file',
  help: 'its working directory (default: the current folder)',
} as const;
const toggle = (help: string) => ({ type: 'boolean', help }) as const;
const value = (placeholder: string, help: string) => ({ type: 'string', value: placeholder, help }) as const;
const SESSION = {
  type: 'string',
  value: 'ID',
  required: true,
  help: 'the id that the agent program gave the session',
} as const;

export const GARDEN_SCHEMA = {
  name: 'garden',
  about: [
    'Shows and changes a garden: a store in which entwurf registers agent sessions as citizens, with their mail and markers.',
    'It supports records of schema 1, 2 and 3. Hivebar only reads the store, except when you run record upsert, mail send,',
    'mail read or marker write.',
  ],
  flags: {
    store: {
      type: 'string',
      value: 'DIR',
      completes: 'file',
      help: 'the agent directory (default: PI_CODING_AGENT_DIR, ENTWURF_META_..._DIR, PI_META_..._DIR, ~/.pi/agent)',
    },
    json: toggle('print JSON for a script'),
  },
  verbs: {
    'record upsert': {
      help: 'register a session as a citizen, or update its record',
      flags: {
        backend: {
          type: 'string',
          value: 'NAME',
          required: true,
          completes: ['claude-code', 'antigravity', 'codex', 'pi'],
          help: 'claude-code, antigravity, codex or pi',
        },
        session: SESSION,
        cwd: CWD,
        model: value('NAME', 'its model; without this flag the value is kept, as for the flags below'),
        'no-model': toggle('clear the model'),
        transcript: { type: 'string', value: 'FILE', completes: 'file', help: 'the path of its transcript' },
        'no-transcript': toggle('clear the transcript'),
        parent: value('GID', 'garden id of the citizen that started it'),
        'no-parent': toggle('clear the parent'),
        entwurf: toggle('mark it as an entwurf'),
        'no-entwurf': toggle('clear the mark of an entwurf'),
        schema: {
          type: 'string',
          value: '2|3',
          completes: ['2', '3'],
          help: 'schema to write (default: that of the record, else of the store, else 2); a record is never downgraded',
        },
        force: FORCE_WRITE,
      },
    },
    'record get': { help: 'show one citizen', flags: { id: takesId } },
    'record list': {
      help: 'list all citizens, and record files that are invalid',
      aliases: ['list'],
      flags: {
        'seed-compat': toggle(
          'list as the previous generation of entwurf did: schemas 1 and 2, duplicates as two citizens',
        ),
      },
    },
    'record scan': { help: 'find the citizen of a session', flags: { session: SESSION } },
    'mail send': {
      help: 'send a message; without TEXT it is read from stdin',
      positionals: { words: { value: 'TEXT', optional: true, many: true } },
      flags: { id: takesId, force: FORCE, queue: toggle('send even if no active receiver would be woken'), as: AS },
    },
    'mail peek': { help: 'show unread messages; changes nothing', flags: { id: takesId } },
    'mail read': {
      help: 'show unread messages and archive them as read',
      flags: {
        id: takesId,
        as: AS,
        'not-mine': toggle('read the mailbox of another citizen, which will no longer get these messages'),
      },
    },
    'receipt show': {
      help: 'show when mail was last sent to, delivered to and read by a citizen',
      flags: { id: takesId },
    },
    peers: { help: 'list the citizens that can get mail, and the flag that mail send needs' },
    'marker write': {
      help: 'record that mail of a citizen wakes a process (receiver), or that a process sends as the citizen (sender)',
      positionals: { kind: { value: 'receiver|sender', optional: true, completes: ['receiver', 'sender'] } },
      flags: {
        id: takesId,
        pid: { type: 'string', value: 'PID', required: true, help: 'the id of the process' },
        provenance: {
          type: 'string',
          value: 'WHY',
          completes: ['session-start', 'cwd-changed', 'file-changed'],
          help: 'for a receiver: session-start (the default), cwd-changed or file-changed',
        },
        'owner-kind': value('NAME', 'for a receiver (default: claude-code-cli)'),
        cwd: CWD,
      },
    },
    'marker show': {
      help: 'list senders and receivers, and whether their processes run',
      flags: { id: value('GID', 'only markers of this citizen') },
    },
    doctor: {
      help: 'check the store. Exit 0: no defects; 1: defects; 3: it cannot be read',
      flags: {
        capabilities: {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'also check this registry (default: pi/entwurf-capabilities.json in this folder, if it exists)',
        },
      },
    },
    status: { help: 'show unread mail per citizen' },
    prune: { help: 'list files that may be deleted by hand; deletes nothing' },
    'id new': { help: 'print a new garden id that no record has' },
  },
  examples: [
    { run: 'hivebar garden status', does: 'who has unread mail, and which agents run' },
    { run: 'hivebar garden mail send --id 20260614T100151-bedab4 --queue "please review"', does: 'one message' },
    { run: 'hivebar garden doctor --store ~/.pi/agent --json', does: 'check the store' },
  ],
} as const satisfies CommandSchema;

type GardenValues = ParsedValues<typeof GARDEN_SCHEMA>;
type GardenFlagName<T> = T extends unknown ? Exclude<keyof T, 'verb' | 'words' | 'kind'> : never;

export type GardenVerb = GardenValues['verb'];

/** The flags of any verb; those of other verbs are undefined. */
export type GardenFlags = {
  readonly [K in GardenFlagName<GardenValues>]?: Extract<GardenValues, { readonly [P in K]: unknown }>[K];
};

export interface GardenArgs {
  readonly verb: GardenVerb;
  /** The words after the verb. */
  readonly words: readonly string[];
  readonly flags: GardenFlags;
}

const CLEARS = ['model', 'transcript', 'parent', 'entwurf'] as const;

/** @throws Fault `usage` */
export function parseGardenArgs(args: readonly string[]): GardenArgs {
  const values = parseCommandLine(GARDEN_SCHEMA, args);
  const { verb, ...flags } = values;
  if (values.store === '') throw toUsageFault(new Error('--store is empty'));
  if (values.verb === 'record upsert') {
    const contrary = CLEARS.find(
      (name) => values[`no-${name}`] && values[name] !== undefined && values[name] !== false,
    );
    if (contrary !== undefined) throw toUsageFault(new Error(`use only one of --no-${contrary} and --${contrary}`));
  }
  const words = 'words' in values ? values.words : 'kind' in values && values.kind !== undefined ? [values.kind] : [];
  return { verb, words, flags };
}
