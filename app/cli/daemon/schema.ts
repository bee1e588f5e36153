import { type CommandSchema, type ParsedValues, parseCommandLine } from '../../../core/command/index.ts';

const TENANT = { type: 'string', value: 'T', help: 'the tenant: the first part of its name' } as const;
const IDENTITY = { type: 'string', value: 'I', help: 'the identity: the second part of its name' } as const;
const JSON_FLAG = { type: 'boolean', help: 'print JSON for a script' } as const;
const AUTONOMY = {
  type: 'string',
  value: 'HINT',
  help: 'handed on to the upstream and the shim, as HIVEBAR_AUTONOMY; nothing is decided by it',
} as const;
const SURFACE = {
  type: 'string',
  value: 'SURFACE',
  completes: ['claude-code', 'codex', 'fallback'],
  help: 'claude-code, codex or fallback',
} as const;

/** One daemon: `T-I`, or both flags, or neither for the only one that is installed. */
const ONE = {
  positionals: { name: { value: 'T-I', optional: true } },
  flags: { tenant: TENANT, identity: IDENTITY, json: JSON_FLAG },
} as const;

/** Several daemons, selected in exactly one way. */
const SEVERAL = {
  positionals: { names: { value: 'T-I', optional: true, many: true } },
  flags: {
    tenant: TENANT,
    identity: IDENTITY,
    persona: { type: 'string', value: 'NAME', completes: 'persona', help: 'all daemons of a persona' },
    project: { type: 'string', value: 'P', completes: 'file', help: 'all daemons of a project' },
    json: JSON_FLAG,
    keep: { type: 'boolean', help: 'with uninstall: leave configuration and tokens' },
  },
} as const;

export const DAEMON_SCHEMA = {
  name: 'daemon',
  about: [
    'One process per persona, which listens to its upstream all the time and rings one doorbell between two turns of its agent.',
    'It carries no content: what waits, the agent fetches itself with hivebar inbox drain. T-I is tenant and identity, as',
    'hivebar daemon list shows them; without it the only daemon there is.',
  ],
  isVerbFirst: true,
  verbs: {
    run: {
      help: 'the process itself, in the foreground: what the units of daemon install start',
      flags: {
        tenant: TENANT,
        identity: IDENTITY,
        project: { type: 'string', value: 'P', completes: 'file', help: 'the folder it is bound to for its life' },
        surface: { ...SURFACE, help: 'another surface than was installed' },
        autonomy: AUTONOMY,
        'install-deps': { type: 'boolean', help: 'run the package manager of the project, once' },
        'activate-venv': { type: 'boolean', help: 'start the shim in the environment PROJECT/.venv' },
        'stays-down': {
          type: 'boolean',
          help: 'end with 0 instead of 78, for launchers that know only success and failure',
        },
      },
    },
    install: {
      help: 'have the launcher of this system start it, now and at every login; again: what is not said stays',
      rest: { value: 'SHIM...', help: 'the command of the shim, by its absolute path' },
      flags: {
        tenant: TENANT,
        identity: IDENTITY,
        project: { type: 'string', value: 'P', completes: 'file', help: 'a folder; another one only after wrap' },
        persona: {
          type: 'string',
          value: 'NAME',
          completes: 'persona',
          help: 'what it is called upstream (default: the identity)',
        },
        surface: SURFACE,
        upstream: {
          type: 'string',
          value: 'URL',
          completes: ['local'],
          help: 'what it listens to (default: local, the hive of this machine)',
        },
        'token-file': {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'the token that URL gave for a daemon, which may observe',
        },
        'act-token-file': {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'the token it gave for the surface, which may drain',
        },
        autonomy: AUTONOMY,
        'install-deps': {
          type: 'boolean',
          negatable: true,
          help: 'the daemon runs the package manager of the project, once',
        },
        'activate-venv': {
          type: 'boolean',
          negatable: true,
          help: 'the daemon starts the shim in the environment PROJECT/.venv',
        },
        'wake-idle': { type: 'boolean', negatable: true, help: 'one ring also while nobody works' },
        by: {
          type: 'string',
          value: 'launcher|tray',
          completes: ['launcher', 'tray'],
          help: 'tray: the tray program starts it as its child instead of the system',
        },
        system: {
          type: 'boolean',
          negatable: true,
          help: 'refused, because a persona daemon belongs to a user',
        },
        print: { type: 'boolean', help: 'only say what the unit would be' },
        json: JSON_FLAG,
      },
    },
    uninstall: { help: 'take that back; linger stays', ...SEVERAL },
    list: { help: 'all that are installed, and what they do', flags: { json: JSON_FLAG } },
    wrap: { help: 'end it, within 7 s whatever it answers, until it is installed again', ...SEVERAL },
    archive: { help: 'the same, and take it from the launcher; configuration and tokens stay', ...SEVERAL },
    destroy: { help: 'the same, and remove configuration, tokens and what its process left', ...SEVERAL },
    status: { help: 'what it does, as it says itself', ...ONE },
    notify: { help: 'one doorbell at the next turn boundary, when something waits', ...ONE },
    resume: { help: 'bind its surface again; never rings', ...ONE },
    shutdown: {
      help: 'end it',
      positionals: ONE.positionals,
      flags: {
        ...ONE.flags,
        reason: { type: 'string', help: 'for its log' },
        deadline: { type: 'string', value: 'MS', help: 'at most 5000 (the default)' },
      },
    },
    drain: {
      help: 'take what waits upstream and print it, as the surface of the daemon',
      positionals: ONE.positionals,
      flags: { ...ONE.flags, max: { type: 'string', value: 'N', help: 'from 1 to 100 (default 20)' } },
    },
    shim: {
      help: 'a shim for agents that a command wakes: run it once per doorbell, which it finds on its stdin. To be configured as the shim of a daemon',
      positionals: ONE.positionals,
      flags: ONE.flags,
      rest: { value: 'COMMAND...', help: 'the command that wakes the agent, for example codex exec resume SESSION -' },
    },
  },
  examples: [
    { run: 'hivebar daemon status acme-ada', does: 'its state, what waits, and its last error' },
    { run: 'hivebar daemon shutdown --tenant acme --identity ada', does: 'ends it within 5 seconds' },
  ],
} as const satisfies CommandSchema;

export type DaemonVerb = ParsedValues<typeof DAEMON_SCHEMA>['verb'];

/** What a command line of this verb says. */
export type DaemonValues<V extends DaemonVerb> = Extract<ParsedValues<typeof DAEMON_SCHEMA>, { readonly verb: V }>;

/** @throws Fault `usage` */
export function parseDaemonArgs<V extends DaemonVerb>(verb: V, args: readonly string[]): DaemonValues<V> {
  return parseCommandLine(DAEMON_SCHEMA, [verb, ...args]) as DaemonValues<V>;
}
