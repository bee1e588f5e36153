import type { Command, Io } from './command.ts';
import { usage } from './outcome.ts';

/** What `hivebar daemon VERB` runs. A file is loaded when its verb is said. */
interface Part {
  /** How it is called, without the program's name and `daemon`. */
  readonly usage: string;
  /** What it does, a line an entry; behind the first come its flags. */
  readonly about: readonly string[];
  load(): Promise<{ run(args: readonly string[], io: Io): Promise<number> }>;
}

const PARTS: Readonly<Record<string, Part>> = {
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

const WIDTH = 16;

export const command: Command = {
  usage: `daemon ${Object.keys(PARTS).join('|')} [flags]`,
  about: [
    'A process a persona, which listens to its upstream all the time and rings one doorbell between two turns of its agent.',
    'It carries no content: what waits, the agent fetches itself with hivebar inbox drain.',
    '',
    ...Object.entries(PARTS).flatMap(([verb, { about }]) =>
      about.map((line, i) => (i === 0 ? `${verb.padEnd(WIDTH)} ${line}` : line)),
    ),
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
    const part = Object.hasOwn(PARTS, verb) ? PARTS[verb] : undefined;
    if (part === undefined) throw usage(new Error(`daemon ${verb}: say ${Object.keys(PARTS).join(', ')}`));
    return await (await part.load()).run(args, io);
  },
};
