import { type CommandSchema, type ParsedValues, parseCommandLine } from '../../../core/command/index.ts';
import { LOG_FLAGS } from '../log-flags.ts';

const TENANT = { type: 'string', value: 'T', help: 'the tenant, which is the first part of its name' } as const;
const IDENTITY = { type: 'string', value: 'I', help: 'the identity, which is the second part of its name' } as const;
const JSON_FLAG = { type: 'boolean', help: 'print JSON for a script' } as const;
const AUTONOMY = {
  type: 'string',
  value: 'HINT',
  help: 'passed on to the upstream, and to the shim as HIVEBAR_AUTONOMY; Hivebar itself ignores it',
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
    keep: { type: 'boolean', help: 'with uninstall: keep configuration and tokens' },
  },
} as const;

export const DAEMON_SCHEMA = {
  name: 'daemon',
  about: [
    'A persona daemon is a process that listens to the upstream of one persona. When something waits, it rings one doorbell',
    'between two turns of the agent. The doorbell has no content: the agent fetches what waits with hivebar inbox drain.',
    'T-I is the tenant and the identity, as hivebar daemon list shows them. Leave it out if only one daemon is installed.',
  ],
  isVerbFirst: true,
  verbs: {
    run: {
      help: 'run the daemon in the foreground; the units that install writes start this',
      flags: {
        tenant: TENANT,
        identity: IDENTITY,
        project: {
          type: 'string',
          value: 'P',
          completes: 'file',
          help: 'the folder of its project, which cannot change while it runs',
        },
        surface: { ...SURFACE, help: 'use this surface instead of the installed one' },
        autonomy: AUTONOMY,
        'install-deps': { type: 'boolean', help: 'run the package manager of the project once' },
        'activate-venv': { type: 'boolean', help: 'start the shim in the virtual environment PROJECT/.venv' },
        'stays-down': {
          type: 'boolean',
          help: 'exit with 0 instead of 78, for launchers that know only success and failure',
        },
      },
    },
    install: {
      help: 'install a daemon, and start it now and at every login; a second install keeps settings that you do not name',
      rest: { value: 'SHIM...', help: 'the command of the shim, with its absolute path' },
      flags: {
        tenant: TENANT,
        identity: IDENTITY,
        project: {
          type: 'string',
          value: 'P',
          completes: 'file',
          help: 'the folder of its project; run wrap before you change it',
        },
        persona: {
          type: 'string',
          value: 'NAME',
          completes: 'persona',
          help: 'its name at the upstream (default: the identity)',
        },
        surface: SURFACE,
        upstream: {
          type: 'string',
          value: 'URL',
          completes: ['local'],
          help: 'the hive that it listens to (default: local, the hive of this machine)',
        },
        'token-file': {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'the token of the upstream that lets the daemon observe',
        },
        'act-token-file': {
          type: 'string',
          value: 'FILE',
          completes: 'file',
          help: 'the token of the upstream that lets the surface drain',
        },
        autonomy: AUTONOMY,
        'install-deps': {
          type: 'boolean',
          negatable: true,
          help: 'let the daemon run the package manager of the project once',
        },
        'activate-venv': {
          type: 'boolean',
          negatable: true,
          help: 'let the daemon start the shim in the virtual environment PROJECT/.venv',
        },
        'wake-idle': { type: 'boolean', negatable: true, help: 'ring once also while the agent is idle' },
        by: {
          type: 'string',
          value: 'launcher|tray',
          completes: ['launcher', 'tray'],
          help: 'what starts it: the launcher of this system, or the tray program',
        },
        system: {
          type: 'boolean',
          negatable: true,
          help: 'not supported, because a persona daemon belongs to a user',
        },
        print: { type: 'boolean', help: 'print the unit and change nothing' },
        json: JSON_FLAG,
      },
    },
    uninstall: { help: 'end it, and remove its unit, configuration and tokens; linger stays enabled', ...SEVERAL },
    list: { help: 'list the installed daemons and their state', flags: { json: JSON_FLAG } },
    wrap: { help: 'end it within 7 s, and keep it from starting until it is installed again', ...SEVERAL },
    archive: { help: 'end it and remove its unit; configuration and tokens stay', ...SEVERAL },
    destroy: { help: 'end it, and remove its unit, configuration, tokens and run files', ...SEVERAL },
    status: { help: 'show the state that the daemon reports', ...ONE },
    logs: {
      help: 'print what it logged; it need not run',
      positionals: ONE.positionals,
      flags: { tenant: TENANT, identity: IDENTITY, ...LOG_FLAGS },
    },
    notify: { help: 'ring one doorbell at the next turn boundary, if something waits', ...ONE },
    resume: { help: 'bind its surface again; never rings', ...ONE },
    shutdown: {
      help: 'end the process; its launcher starts it again at the next login',
      positionals: ONE.positionals,
      flags: {
        ...ONE.flags,
        reason: { type: 'string', help: 'the reason, for its log' },
        deadline: { type: 'string', value: 'MS', help: 'how long it may take, at most 5000 ms (the default)' },
      },
    },
    drain: {
      help: 'take what waits off the queue of the upstream and print it',
      positionals: ONE.positionals,
      flags: { ...ONE.flags, max: { type: 'string', value: 'N', help: 'from 1 to 100 (default 20)' } },
    },
    shim: {
      help: 'run COMMAND once per doorbell, with the doorbell on its stdin; configure this as the shim of a daemon',
      positionals: ONE.positionals,
      flags: ONE.flags,
      rest: { value: 'COMMAND...', help: 'the command that wakes the agent, for example codex exec resume SESSION -' },
    },
  },
  examples: [
    { run: 'hivebar daemon status acme-ada', does: 'its state, what waits, and its last error' },
    { run: 'hivebar daemon shutdown --tenant acme --identity ada', does: 'end it within 5 seconds' },
  ],
} as const satisfies CommandSchema;

export type DaemonVerb = ParsedValues<typeof DAEMON_SCHEMA>['verb'];

/** What a command line of this verb says. */
export type DaemonValues<V extends DaemonVerb> = Extract<ParsedValues<typeof DAEMON_SCHEMA>, { readonly verb: V }>;

/** @throws Fault `usage` */
export function parseDaemonArgs<V extends DaemonVerb>(verb: V, args: readonly string[]): DaemonValues<V> {
  return parseCommandLine(DAEMON_SCHEMA, [verb, ...args]) as DaemonValues<V>;
}
