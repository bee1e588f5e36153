/** Which way wakes which agent program, and what was run of it. The tables of docs/guides/waking.md are written from here. */
import { join } from 'node:path';
import { WAKE_WAYS, type WakeWay } from '../app/hook/index.ts';
import { HARNESS_MODULES, HARNESS_NAMES, type HarnessName } from '../core/hooks/index.ts';

/** `run`: a test with the real program, by its file and its name as it is written there. */
export type WakingCell =
  | { readonly run: readonly [file: string, name: string] }
  | { readonly notRun: string }
  | { readonly notPossible: string };

const run = (file: string, name: string): WakingCell => ({ run: [file, name] });
const notRun = (why: string): WakingCell => ({ notRun: why });
const no = (why: string): WakingCell => ({ notPossible: why });

/** The ways of Hivebar, and the one that a plugin could use and ours does not. */
type Way = WakeWay | 'monitor';
const WAYS: readonly Way[] = [...WAKE_WAYS.slice(0, 2), 'monitor', ...WAKE_WAYS.slice(2)];

const FOLLOW = notRun('a command of yours starts the turn, beside the session: `hivebar follow --harness exec`');
const ADDRESS = notRun('it calls a program of yours, which has to wake the agent');
/** The name of the test as it is written there, for each program that it runs. */
const DRIVEN = run(
  'test/e2e/real-wake-address.test.ts',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the name in the file is a template
  'the real ${program.label}, idle, begins a turn when the program that runs it is called at its wake address',
);
const NO_MONITOR = no('no monitor can be installed');
const NO_PLUGIN = no('nothing of others runs inside it');
const NO_SOCKET = no('its sessions have no inbox socket');
const NO_CHANNEL = no('no channel');
const NO_QUEUE = no('only Codex has this queue');
const NO_TYPING = no('it does not say that its prompt is empty and waits');

/** What holds for a program that nothing but its person wakes. */
const UNREACHED: Readonly<Record<Way, WakingCell>> = {
  follow: FOLLOW,
  waiter: no('the end of a hook begins no turn'),
  monitor: NO_MONITOR,
  plugin: NO_PLUGIN,
  socket: NO_SOCKET,
  channel: NO_CHANNEL,
  queue: NO_QUEUE,
  address: ADDRESS,
  tmux: NO_TYPING,
};

export const WAKING: Readonly<Record<HarnessName, Readonly<Record<Way, WakingCell>>>> = {
  claude: {
    follow: run(
      'test/e2e/real-follow.test.ts',
      'the real Claude Code has a turn of its session for each batch of mail, which hivebar follow starts',
    ),
    waiter: run(
      'test/e2e/real-claude-waiter.test.ts',
      'the real Claude Code, idle, begins a turn when mail comes, with the tray closed and open, and is shown it once',
    ),
    monitor: notRun('the plugin of Hivebar brings the waiter instead'),
    plugin: NO_PLUGIN,
    socket: run(
      'test/e2e/real-claude-socket.test.ts',
      'the real Claude Code, idle and without a waiter, begins a turn by its inbox socket, once for each mail, and is shown it',
    ),
    channel: notRun(
      'without a login it says that channels are not available; that nothing is lost then is run, in `test/e2e/real-claude-channel.test.ts`',
    ),
    queue: NO_QUEUE,
    address: DRIVEN,
    tmux: run(
      'test/e2e/real-claude.test.ts',
      'C2 the real Claude Code: nothing is approved, no draft is sent, and an empty prompt is told of mail',
    ),
  },
  codex: {
    ...UNREACHED,
    follow: run(
      'test/e2e/real-follow.test.ts',
      'the real Codex has a turn of its session for each batch of mail, which hivebar follow starts',
    ),
    queue: run(
      'test/e2e/real-codex-wake.test.ts',
      'the real Codex, idle, begins a turn by its own queue when mail comes, and is shown it once',
    ),
    tmux: no('nothing is ever typed into it'),
  },
  gemini: { ...UNREACHED, address: DRIVEN },
  qwen: {
    ...UNREACHED,
    address: DRIVEN,
    socket: notRun('off by default, and what it accepts there is not documented'),
  },
  copilot: {
    ...UNREACHED,
    waiter: no('only its own notifications begin a turn'),
    address: notRun('a program that runs it (`--acp`) finds its session over after each prompt, and not idle'),
  },
  cursor: UNREACHED,
  opencode: {
    ...UNREACHED,
    waiter: no('its plugin runs the waiter, so it stands in that column'),
    plugin: run(
      'test/e2e/real-opencode.test.ts',
      'the real OpenCode as a server, idle, begins a turn when mail comes, with the tray closed and open, and waits for its person',
    ),
  },
  goose: UNREACHED,
};

export const WAKING_FILE = join(import.meta.dirname, '..', 'docs', 'guides', 'waking.md');

const LABELS: Readonly<Record<Way, string>> = {
  follow: 'follow',
  waiter: 'waiter',
  monitor: 'plugin monitor',
  plugin: 'in-process plugin',
  socket: 'socket',
  channel: 'channel',
  queue: 'codex queue',
  address: 'wake URL',
  tmux: 'tmux',
};

const toLabel = (name: HarnessName): string => HARNESS_MODULES[name].label;
const toWord = (cell: WakingCell): string => ('run' in cell ? 'run' : 'notRun' in cell ? 'not run' : 'no');

/** The tables: a row for each agent program, then why each cell says what it says. */
export function formatWaking(): string {
  const head = `| | ${WAYS.map((way) => LABELS[way]).join(' | ')} |\n|---|${WAYS.map(() => '---|').join('')}\n`;
  const rows = HARNESS_NAMES.map(
    (name) => `| ${toLabel(name)} | ${WAYS.map((way) => toWord(WAKING[name][way])).join(' | ')} |\n`,
  );
  const reasons = WAYS.flatMap((way) => formatReasons(way));
  return `${head}${rows.join('')}\n| way | says | for | because |\n|---|---|---|---|\n${reasons.join('')}`;
}

/** One line for each thing that is said of a way, with the programs that it is said of. */
function formatReasons(way: Way): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const name of HARNESS_NAMES) {
    const cell = WAKING[name][way];
    const why = 'run' in cell ? `\`${cell.run[0]}\`` : 'notRun' in cell ? cell.notRun : cell.notPossible;
    const key = `${toWord(cell)}\n${why}`;
    lines.set(key, [...(lines.get(key) ?? []), toLabel(name)]);
  }
  return [...lines].map(([key, names]) => {
    const [word, why] = key.split('\n');
    const whom = names.length === HARNESS_NAMES.length ? 'all' : names.join(', ');
    return `| ${LABELS[way]} | ${word} | ${whom} | ${why} |\n`;
  });
}

const START = '<!-- tables -->\n';
const END = '<!-- end of tables -->\n';

/** Returns the page with the tables as they are here. @throws where it has no place for them */
export function updateWaking(text: string): string {
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`docs/guides/waking.md has no lines ${START.trim()} and ${END.trim()}`);
  return `${text.slice(0, start + START.length)}\n${formatWaking()}\n${text.slice(end)}`;
}
