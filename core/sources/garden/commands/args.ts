import { type CommandSchema, type ParsedValues, parseCommandLine, toUsageFault } from '../../../command/index.ts';

const takesId = { type: 'string', value: 'GID', required: true, help: 'a citizen: 20260614T100151-bedab4' } as const;
const FORCE = { type: 'boolean', help: 'also to a backend that reads no mailbox' } as const;
const AS = {
  type: 'string',
  value: 'GID',
  help: 'who you are (default: HIVEBAR_PERSONA, else the marker of a process above this one)',
} as const;
const CWD = {
  type: 'string',
  value: 'DIR',
  completes: 'file',
  help: 'where it works (default: the current folder)',
} as const;
const toggle = (help: string) => ({ type: 'boolean', help }) as const;
const value = (placeholder: string, help: string) => ({ type: 'string', value: placeholder, help }) as const;
const SESSION = { type: 'string', value: 'ID', required: true, help: 'what the harness calls the session' } as const;

export const GARDEN_SCHEMA = {
  name: 'garden',
  about: [
    'Citizens of a garden of native sessions, their mail and their markers, as entwurf keeps them: reads its records of',
    'schema 1, 2 and 3. The watcher writes nothing there; these commands do what they say.',
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
      help: 'make a native session a citizen, or bring its record up to date',
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
        model: value('NAME', 'its model; without the flag it stays as it is, and so with the next ones'),
        'no-model': toggle('it has no model'),
        transcript: { type: 'string', value: 'FILE', completes: 'file', help: 'its transcript' },
        'no-transcript': toggle('it has no transcript'),
        parent: value('GID', 'the citizen that started it'),
        'no-parent': toggle('it has no parent'),
        entwurf: toggle('it is an entwurf'),
        'no-entwurf': toggle('it is no entwurf'),
        schema: {
          type: 'string',
          value: '2|3',
          completes: ['2', '3'],
          help: 'what is written (default: 2); 3 is never rewritten as 2',
        },
        force: FORCE,
      },
    },
    'record get': { help: 'one citizen', flags: { id: takesId } },
    'record list': {
      help: 'every citizen, and every record file that is none',
      aliases: ['list'],
      flags: { 'seed-compat': toggle('as the previous generation lists: schemas 1 and 2, duplicates as two') },
    },
    'record scan': { help: 'the citizen of a native session', flags: { session: SESSION } },
    'mail send': {
      help: 'a message; TEXT, else from stdin',
      positionals: { words: { value: 'TEXT', optional: true, many: true } },
      flags: { id: takesId, force: FORCE, queue: toggle('also when no active receiver would be woken'), as: AS },
    },
    'mail peek': { help: 'what waits; changes nothing', flags: { id: takesId } },
    'mail read': {
      help: 'what waits, and it is read from then on',
      flags: {
        id: takesId,
        as: AS,
        'not-mine': toggle('the box of another: its mail is not told to it any more'),
      },
    },
    'receipt show': { help: 'the last times of a citizen', flags: { id: takesId } },
    peers: { help: 'who can be written to, and what it takes' },
    'marker write': {
      help: 'say that a process is woken by the mail of a citizen, or sends as it',
      positionals: { kind: { value: 'receiver|sender', optional: true, completes: ['receiver', 'sender'] } },
      flags: {
        id: takesId,
        pid: { type: 'string', value: 'PID', required: true, help: 'which process' },
        provenance: {
          type: 'string',
          value: 'WHY',
          completes: ['session-start', 'cwd-changed', 'file-changed'],
          help: 'of a receiver: session-start (the default), cwd-changed or file-changed',
        },
        'owner-kind': value('NAME', 'of a receiver (default: claude-code-cli)'),
        cwd: CWD,
      },
    },
    'marker show': {
      help: 'who sends and who is woken, and whether they live',
      flags: { id: value('GID', 'only this citizen') },
    },
    doctor: {
      help: 'exit 0: certified; 1: defects; 3: the store cannot be read',
      flags: {
        capabilities: {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'also this registry (default: pi/entwurf-capabilities.json in this folder, if there is one)',
        },
      },
    },
    status: { help: 'what waits for whom' },
    prune: { help: 'what may be deleted by hand; deletes nothing' },
    'id new': { help: 'a garden id that nobody has' },
  },
  examples: [
    { run: 'hivebar garden status', does: 'what waits for whom, and who lives' },
    { run: 'hivebar garden mail send --id 20260614T100151-bedab4 --queue "please review"', does: 'one message' },
    { run: 'hivebar garden doctor --store ~/.pi/agent --json', does: 'is the store in order?' },
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
