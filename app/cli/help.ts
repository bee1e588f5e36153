import type { Command, CommandEntry } from './command.ts';

/** Formats the text of `hivebar --help`. */
export function formatOverview(commands: Readonly<Record<string, CommandEntry>>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const rows = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `${[
    'Hivebar watches the inboxes of the agents on this machine and shows who has mail and who is down.',
    '',
    'Usage: hivebar [command] [options]',
    '',
    'Commands:',
    ...rows,
    '',
    'hivebar COMMAND --help   says more about one of them',
    'hivebar --version        prints the version',
  ].join('\n')}\n`;
}

const NEEDS = {
  bare: null,
  store: null,
  tray: 'Needs the running tray program: start it with `hivebar`.',
} as const;

/** Formats the text of `hivebar NAME --help`. */
export function formatHelp({ summary, needs }: CommandEntry, { usage, about, examples }: Command): string {
  const need = NEEDS[needs];
  const width = Math.max(0, ...examples.map(({ run }) => run.length));
  return `${[
    `Usage: hivebar ${usage}`,
    '',
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    ...(about.length === 0 ? [] : ['', ...about]),
    ...(need === null ? [] : ['', need]),
    ...(examples.length === 0 ? [] : ['', 'Examples:']),
    ...examples.map(({ run, does }) => `  ${run.padEnd(width)}  ${does}`),
  ].join('\n')}\n`;
}
