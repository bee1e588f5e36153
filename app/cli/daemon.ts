import type { Io, TextCommand } from '../../core/command/index.ts';
import { toUsageFault } from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';

/** One subcommand, `hivebar daemon VERB`. Its file is loaded when it runs. */
interface DaemonSubcommand {
  /** The command line, without the program's name and `daemon`. */
  readonly usage: string;
  /** The help text, one line per entry. Flags are indented by two. */
  readonly about: readonly string[];
  load(): Promise<{ run(args: readonly string[], io: Io): Promise<number> }>;
}

const SUBCOMMANDS: Readonly<Record<string, DaemonSubcommand>> = {
  run: {
    usage: 'run --tenant T --identity I --project P [--surface S] [--autonomy HINT] [--install-deps] [--activate-venv]',
    about: [
      'the process itself, in the foreground: what the units of daemon install start',
      '  --project P        the folder it is bound to for its life',
      '  --surface S        another one than was installed',
      '  --autonomy HINT    handed on to the upstream and the shim, as HIVEBAR_AUTONOMY; nothing is decided by it',
      '  --install-deps     runs the package manager of the project, once',
      '  --activate-venv    starts the shim in the environment PROJECT/.venv',
      '  --stays-down       ends with 0 instead of 78, for launchers that know only success and failure',
    ],
    load: () => import('./daemon/run.ts'),
  },
  install: {
    usage: 'install --tenant T --identity I --project P [-- SHIM]',
    about: [
      'has the launcher of this system start it, now and at every login; again: what is not said stays',
      '  --project P        a folder; another one only after wrap',
      '  --persona NAME     what it is called upstream (default: the identity)',
      '  --surface claude-code|codex|fallback',
      '  --upstream URL     default: local, the hive of this machine',
      '  --token-file FILE  the token that URL gave for a daemon, which may observe',
      '  --act-token-file FILE   the token it gave for the surface, which may drain',
      '  --wake-idle        one ring also while nobody works; --no-wake-idle takes it back',
      '  --by launcher|tray the tray program starts it as its child instead of the system',
      '  --print            only says what the unit would be',
      '  -- SHIM            the command of the shim, by its absolute path',
    ],
    load: () => import('./daemon/install.ts'),
  },
  uninstall: {
    usage: 'uninstall T-I [--keep]',
    about: ['takes that back; linger stays', '  --keep             leaves configuration and tokens'],
    load: () => import('./daemon/uninstall.ts'),
  },
  list: {
    usage: 'list [--json]',
    about: ['all that are installed, and what they do'],
    load: () => import('./daemon/list.ts'),
  },
  wrap: {
    usage: 'wrap T-I',
    about: [
      'ends it, within 7 s whatever it answers, until it is installed again',
      '  --persona NAME     all of a persona',
      '  --project P        all of a project',
    ],
    load: () => import('./daemon/wrap.ts'),
  },
  archive: {
    usage: 'archive T-I',
    about: ['the same, and takes it from the launcher; configuration and tokens stay'],
    load: () => import('./daemon/archive.ts'),
  },
  destroy: {
    usage: 'destroy T-I',
    about: ['the same, and removes configuration, tokens and what its process left'],
    load: () => import('./daemon/destroy.ts'),
  },
  status: {
    usage: 'status [T-I] [--json]',
    about: ['what it does, as it says itself'],
    load: () => import('./daemon/status.ts'),
  },
  notify: {
    usage: 'notify [T-I]',
    about: ['one doorbell at the next boundary, when something waits'],
    load: () => import('./daemon/notify.ts'),
  },
  resume: {
    usage: 'resume [T-I]',
    about: ['binds its surface again; never rings'],
    load: () => import('./daemon/resume.ts'),
  },
  shutdown: {
    usage: 'shutdown [T-I]',
    about: ['ends it', '  --reason TEXT    for its log', '  --deadline MS    at most 5000 (default)'],
    load: () => import('./daemon/shutdown.ts'),
  },
  drain: {
    usage: 'drain [T-I] [--max N] [--json]',
    about: [
      'takes what waits upstream and prints it, as the surface of the daemon',
      '  --max N          from 1 to 100 (20)',
    ],
    load: () => import('./daemon/drain.ts'),
  },
  shim: {
    usage: 'shim [T-I] -- COMMAND...',
    about: [
      'a shim for agents that a command wakes: runs it once a doorbell, which it finds on its stdin',
      '  to be configured as the shim of a daemon, for example:',
      '  hivebar daemon shim acme-ada -- codex exec resume SESSION -',
    ],
    load: () => import('./daemon/shim.ts'),
  },
};

/** Leaves lines with flags where completion looks for them. */
const indent = (line: string): string => (line.startsWith('  --') ? line : `    ${line.trimStart()}`);

export const command: TextCommand = {
  usage: `daemon ${Object.keys(SUBCOMMANDS).join('|')} [flags]`,
  about: [
    'A process a persona, which listens to its upstream all the time and rings one doorbell between two turns of its agent.',
    'It carries no content: what waits, the agent fetches itself with hivebar inbox drain.',
    '',
    ...Object.values(SUBCOMMANDS).flatMap(({ usage: subcommandUsage, about }) => [
      subcommandUsage,
      ...about.map(indent),
    ]),
    '',
    '  T-I                tenant and identity, as hivebar daemon list shows them; without it the only one there is',
    '  --tenant T         the same in two words',
    '  --identity I',
    '  --json             for a script',
  ],
  examples: [
    { run: 'hivebar daemon status acme-ada', does: 'its state, what waits, and its last error' },
    { run: 'hivebar daemon shutdown --tenant acme --identity ada', does: 'ends it within 5 seconds' },
  ],
  async run([verb = '', ...args], io) {
    const subcommand = Object.hasOwn(SUBCOMMANDS, verb) ? SUBCOMMANDS[verb] : undefined;
    if (subcommand === undefined) {
      const verbs = Object.keys(SUBCOMMANDS).join(', ');
      throw toUsageFault(
        new Error(verb === '' ? `say one of ${verbs}` : `there is no ${displayName(verb)}: say one of ${verbs}`),
      );
    }
    return await (await subcommand.load()).run(args, io);
  },
};
