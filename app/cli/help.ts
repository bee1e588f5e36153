import {
  type Command,
  type CommandEntry,
  type CommandGroup,
  type CommandSchema,
  formatUsage,
  type HelpSection,
  listHelpSections,
} from '../../core/command/index.ts';
import { displayName } from '../../core/format/index.ts';
import { Fault, toRemovedFolderFault } from '../../core/model/index.ts';

/** Columns of the help text, as narrow as a terminal is by default. */
const COLUMNS = 80;
/** Where the text of verbs and flags begins, unless what it is about is longer. */
const TEXT_COLUMN = 24;

const GROUPS: Readonly<Record<CommandGroup, string>> = {
  watch: 'Watch',
  mail: 'Mail and questions',
  agents: 'Agents',
  notifications: 'Notifications',
  setup: 'Set up and maintain',
};

/** Formats the text of `hivebar --help`. */
export function formatOverview(commands: Readonly<Record<string, CommandEntry>>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const listed = Object.entries(commands);
  const groups = Object.entries(GROUPS).flatMap(([group, title]) => {
    const rows = listed.filter(([, entry]) => entry.group === group);
    if (rows.length === 0) return [];
    return ['', title, ...rows.map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)];
  });
  return `${[
    ...wrap(
      'Hivebar watches the inboxes of the agents on this machine and shows who has mail and who is down.',
      COLUMNS,
    ),
    '',
    'Usage: hivebar [COMMAND] [FLAGS]',
    ...groups,
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
  const { about, notes = [] } = schema;
  const need = NEEDS[needs];
  const blocks = [
    formatUsage(schema).flatMap((line, i) => formatUsageLine(line, i === 0)),
    wrap(`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`, COLUMNS),
    ...splitParagraphs(about),
    listHelpSections(schema).flatMap(formatSection),
    ...splitParagraphs(notes),
    ...(need === null ? [] : [[need]]),
    formatExamples(schema),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Splits text at its empty lines, and fills the lines of each part. */
function splitParagraphs(lines: readonly string[]): readonly (readonly string[])[] {
  const paragraphs = lines.join('\n').split('\n\n');
  return paragraphs.map((text) => (text === '' ? [] : wrap(text.replaceAll('\n', ' '), COLUMNS)));
}

/** What stays on one line of the usage: a part in brackets, a flag with its value, a word. */
const USAGE_PARTS = /\[[^\]]*\]|--\S+ [A-Z]\S*|\S+/g;

/** Formats a command line of the usage; what does not fit on a line continues below its words. */
function formatUsageLine(line: string, isFirst: boolean): readonly string[] {
  const head = isFirst ? 'Usage: ' : '       ';
  const lines = fill(`hivebar ${line}`.match(USAGE_PARTS) ?? [], COLUMNS - head.length - 4);
  return lines.map((text, i) => (i === 0 ? `${head}${text}` : `           ${text}`));
}

/** Formats the examples in two columns. Where one is too long, each has its text below, and goes on in a second line. */
function formatExamples({ examples }: CommandSchema): readonly string[] {
  if (examples.length === 0) return [];
  const width = Math.max(...examples.map(({ run }) => run.length));
  const isNarrow = examples.every(({ does }) => width + does.length + 4 <= COLUMNS);
  if (isNarrow) return ['Examples:', ...examples.map(({ run, does }) => `  ${run.padEnd(width)}  ${does}`)];
  return ['Examples:', ...examples.flatMap(formatLongExample)];
}

function formatLongExample({ run, does }: CommandSchema['examples'][number]): readonly string[] {
  const parts = run.length + 2 <= COLUMNS ? [run] : run.split(/ (?=--)/);
  const lines = fill(parts, COLUMNS - 8).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
  const text = wrap(does, COLUMNS - 6).map((line) => `      ${line}`);
  return [lines.join(' \\\n'), ...text];
}

function formatSection({ heading, help, flags }: HelpSection, index: number): readonly string[] {
  const title = heading === null ? (index === 0 ? [] : ['']) : formatEntry(heading, help ?? '');
  return [...title, ...flags.flatMap((entry) => formatEntry(`  ${entry.flag}`, entry.help))];
}

/** Formats a term and its text in two columns; the text is broken between words. */
function formatEntry(term: string, text: string): readonly string[] {
  const [first = '', ...rest] = wrap(text, COLUMNS - TEXT_COLUMN);
  const margin = ' '.repeat(TEXT_COLUMN);
  const fits = term.length + 2 <= TEXT_COLUMN || (rest.length === 0 && term.length + first.length + 2 <= COLUMNS);
  const head = fits ? [`${term.padEnd(TEXT_COLUMN - 2)}  ${first}`] : [term, `${margin}${first}`];
  return [...head, ...rest.map((line) => `${margin}${line}`)];
}

/** Breaks text between words. */
function wrap(text: string, columns: number): readonly string[] {
  return fill(text.split(' '), columns);
}

/** Puts as many parts on each line as fit. A part that is too long has a line of its own. */
function fill(parts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length < columns) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(part);
  }
  return lines;
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
