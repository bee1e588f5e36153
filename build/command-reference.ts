/** The reference of the command line as the schemas of the commands have it: a page of docs/contract, and the man page. */
import { join } from 'node:path';
import { COMMANDS } from '../app/cli/commands.ts';
import {
  type CommandSchema,
  type CommandTable,
  formatUsage,
  type HelpSection,
  listHelpSections,
} from '../core/command/index.ts';

export const REFERENCE_FILE = join(import.meta.dirname, '..', 'docs', 'contract', 'command-line-reference.md');

interface DocumentedCommand {
  readonly summary: string;
  readonly needs: 'bare' | 'store' | 'tray';
  readonly schema: CommandSchema;
}

async function loadCommands(commands: CommandTable): Promise<readonly DocumentedCommand[]> {
  return await Promise.all(
    Object.values(commands).map(async ({ summary, needs, load }) => {
      const { command } = await load();
      return { summary, needs, schema: command.schema };
    }),
  );
}

const PREFACE = `# Command line reference

    hivebar COMMAND --help

Every command with its flags, as \`--help\` prints them. \`npm run contract\` writes this page from the schemas of the commands. What a
command promises stands in [command line](command-line.md) and the pages that it names.
`;

/** Formats the page \`docs/contract/command-line-reference.md\`. */
export async function formatReference(commands: CommandTable = COMMANDS): Promise<string> {
  const pages = (await loadCommands(commands)).map(formatCommand);
  return [PREFACE, ...pages].join('\n');
}

function formatCommand({ summary, needs, schema }: DocumentedCommand): string {
  const usage = formatUsage(schema).map((line) => `    hivebar ${line}`);
  const notes = [...schema.about, ...(schema.notes?.length ? ['', ...schema.notes] : [])].join('\n').trim();
  return [
    `## hivebar ${schema.name}`,
    '',
    ...usage,
    '',
    `${toSentence(summary)}${needs === 'tray' ? ' It needs the running tray program.' : ''}`,
    ...(notes === '' ? [] : ['', toMarkdown(notes)]),
    ...listHelpSections(schema).flatMap(formatSection),
    '',
  ].join('\n');
}

function formatSection({ heading, help, flags }: HelpSection): readonly string[] {
  const title = heading === null ? [] : ['', `**\`${heading}\`**: ${toMarkdown(help ?? '')}`];
  if (flags.length === 0) return title;
  const rows = flags.map((entry) => `| \`${toCell(entry.flag)}\` | ${toCell(toMarkdown(entry.help))} |`);
  return [...title, '', '| flag | meaning |', '|---|---|', ...rows];
}

function toSentence(text: string): string {
  return `${toMarkdown(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`)}.`;
}

/** Escapes what Markdown would read as markup; code spans of the help stay code. */
function toMarkdown(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replace(/[*<>\\]/g, '\\$&')))
    .join('');
}

function toCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/**
 * Formats the man page `hivebar(1)`.
 * @param version the version of the package
 */
export async function formatManPage(version: string, commands: CommandTable = COMMANDS): Promise<string> {
  const documented = await loadCommands(commands);
  return `${[
    `.TH HIVEBAR 1 "" "hivebar ${version}" "User Commands"`,
    '.SH NAME',
    'hivebar \\- shows which AI agent has mail, which inbox is down, and which agent waits for an answer',
    '.SH SYNOPSIS',
    '.B hivebar',
    '[COMMAND] [FLAGS]',
    '.SH DESCRIPTION',
    toRoff('Hivebar watches the inboxes of the agents on this machine. Without a command it runs the tray program.'),
    '.PP',
    toRoff('Every command takes --help. hivebar --version prints the version.'),
    '.SH COMMANDS',
    ...documented.flatMap(formatManSection),
    '.SH EXIT STATUS',
    toRoff(
      '0: done. 1: failed; stderr says why and what to do next. 2: a bad command line. Others stand with their command.',
    ),
    '.SH ENVIRONMENT',
    '.TP',
    '.B HIVEBAR_HOME',
    'moves everything that Hivebar keeps: state, run files, settings.',
    '.TP',
    '.B HIVEBAR_PERSONA',
    'the persona that a command acts for.',
  ].join('\n')}\n`;
}

function formatManSection({ summary, needs, schema }: DocumentedCommand): readonly string[] {
  const { about, notes = [], examples } = schema;
  return [
    `.SS ${toRoff(`hivebar ${schema.name}`)}`,
    '.nf',
    ...formatUsage(schema).map((line) => toRoff(`hivebar ${line}`)),
    '.fi',
    '.PP',
    toRoff(
      `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.${needs === 'tray' ? ' It needs the running tray program.' : ''}`,
    ),
    ...formatParagraph(about),
    ...listHelpSections(schema).flatMap(formatManEntries),
    ...formatParagraph(notes),
    ...examples.flatMap(({ run, does }) => ['.TP', `.B ${toRoff(run)}`, toRoff(does)]),
  ];
}

function formatParagraph(lines: readonly string[]): readonly string[] {
  const text = lines.filter((line) => line !== '').map(toRoff);
  return text.length === 0 ? [] : ['.PP', ...text];
}

function formatManEntries({ heading, help, flags }: HelpSection): readonly string[] {
  return [
    ...(heading === null ? [] : ['.TP', `.B ${toRoff(heading)}`, toRoff(help ?? '')]),
    ...(heading === null || flags.length === 0 ? [] : ['.RS']),
    ...flags.flatMap((entry) => ['.TP', `.B ${toRoff(entry.flag)}`, toRoff(entry.help)]),
    ...(heading === null || flags.length === 0 ? [] : ['.RE']),
  ];
}

/** Escapes a line for roff: backslashes, hyphens that a person types, and what would be a request. */
export function toRoff(line: string): string {
  const text = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq');
  return /^[.']/.test(text) ? `\\&${text}` : text;
}
