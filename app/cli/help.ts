import {
  type Command,
  type CommandEntry,
  formatUsage,
  type HelpSection,
  listHelpSections,
} from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { Fault, toRemovedFolderFault } from '../../core/model/index.ts';

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
    'hivebar COMMAND --help   explains one command',
    'hivebar --version        prints the version',
  ].join('\n')}\n`;
}

const NEEDS = {
  bare: null,
  store: null,
  tray: 'Needs the running tray program: start it with `hivebar`.',
} as const;

/** Formats the text of `hivebar NAME --help`. */
export function formatHelp({ summary, needs }: CommandEntry, { schema }: Command): string {
  const need = NEEDS[needs];
  const { about, notes = [], examples } = schema;
  const sections = listHelpSections(schema).flatMap(formatSection);
  const blocks = [about, sections, notes].filter((lines) => lines.length > 0);
  const body = blocks.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
  const width = Math.max(0, ...examples.map(({ run }) => run.length));
  return `${[
    ...formatUsage(schema).map((line, i) => `${i === 0 ? 'Usage:' : '      '} hivebar ${line}`),
    '',
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    ...(body.length === 0 ? [] : ['', ...body]),
    ...(need === null ? [] : ['', need]),
    ...(examples.length === 0 ? [] : ['', 'Examples:']),
    ...examples.map(({ run, does }) => `  ${run.padEnd(width)}  ${does}`),
  ].join('\n')}\n`;
}

/** Columns of the help text. */
const COLUMNS = 120;
/** Where the text of verbs and flags begins, unless what it is about is longer. */
const TEXT_COLUMN = 26;

function formatSection({ heading, help, flags }: HelpSection, index: number): readonly string[] {
  const title = heading === null ? (index === 0 ? [] : ['']) : formatEntry(heading, help ?? '');
  return [...title, ...flags.flatMap((entry) => formatEntry(`  ${entry.flag}`, entry.help))];
}

/** Formats a term and its text in two columns; the text is broken between words. */
function formatEntry(term: string, text: string): readonly string[] {
  const room = COLUMNS - TEXT_COLUMN;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  const [first = '', ...rest] = lines;
  const margin = ' '.repeat(TEXT_COLUMN);
  const fits = term.length + 2 <= TEXT_COLUMN || term.length + first.length + 2 <= COLUMNS;
  const head = fits ? [`${term.padEnd(TEXT_COLUMN - 2)}  ${first}`] : [term, `${margin}${first}`];
  return [...head, ...rest.map((line) => `${margin}${line}`)];
}

/** Formats the error that a command threw for a person, and chooses the exit code. */
export function explain(name: string, error: unknown): { readonly text: string; readonly exit: number } {
  const removed = toRemovedFolderFault(error);
  if (removed !== null) return explain(name, removed);
  if (error instanceof Fault && error.code === 'usage') {
    return { text: `hivebar ${name}: ${displayName(error.message)}: see hivebar ${name} --help\n`, exit: 2 };
  }
  if (error instanceof Fault && error.code !== 'internal') {
    return { text: `hivebar ${name}: ${displayName(error.explain())}\n`, exit: 1 };
  }
  // An unforeseen error: the place in the code matters more than a short line.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { text: `hivebar ${name}: this is a fault of Hivebar itself, please report it\n${text}\n`, exit: 1 };
}
