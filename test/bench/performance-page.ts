import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { ResultLine } from './harness.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'performance.md');

/** The tables that commands write. Everything outside of them is written by hand and stays. */
export type PageSection = 'machine' | 'goals' | 'further' | 'compare';

const HEAD = '| what | figure | bar | floor of the same runs | |\n|---|---|---|---|---|\n';

/** Writes rows into the table of a section. A row of the same name is replaced, all others stay. */
export function writeSection(section: 'goals' | 'further', rows: readonly ResultLine[]): void {
  if (rows.length === 0) return;
  const page = readPage();
  const lines = new Map(findTableLines(page, section).map((line) => [line.split('|')[1]?.trim() ?? '', line]));
  for (const row of rows) {
    const verdict = row.bar === '' ? '' : row.met ? 'reached' : '**missed**';
    lines.set(escapeCell(row.name), toTableLine([row.name, row.figure, row.bar, row.floor, verdict]));
  }
  writePage(replaceSection(page, section, HEAD + [...lines.values()].join('')));
}

/** Writes a whole section: a table with its head. */
export function writeTable(section: 'compare', rows: readonly (readonly string[])[], remarks: readonly string[]): void {
  const [head = [], ...body] = rows;
  const text = `${toTableLine(head)}|${'---|'.repeat(head.length)}\n${body.map(toTableLine).join('')}`;
  writePage(replaceSection(readPage(), section, `${text}\n${remarks.map((line) => `- ${line}\n`).join('')}`));
}

/** The text with what stands between the marks of a section replaced. @throws when the page lacks the marks */
export function replaceSection(page: string, section: PageSection, text: string): string {
  const [before, , after] = splitAtSection(page, section);
  return `${before}\n${text}${after}`;
}

/** The rows of a section's table, each with its line break. */
export function findTableLines(page: string, section: PageSection): readonly string[] {
  const lines = splitAtSection(page, section)[1].match(/^\|.*\n/gm) ?? [];
  return lines.slice(2); // without the head
}

function splitAtSection(page: string, section: PageSection): readonly [string, string, string] {
  const [begin, end] = [`<!-- ${section}: written by a command -->\n`, `<!-- end of ${section} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/performance.md lacks the marks of the section ${section}`);
  return [page.slice(0, from + begin.length), page.slice(from + begin.length, to), page.slice(to)];
}

function toTableLine(cells: readonly string[]): string {
  return `| ${cells.map(escapeCell).join(' | ')} |\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function readPage(): string {
  if (!existsSync(PAGE)) throw new Error('docs/performance.md is missing: restore it, its marks say where tables go');
  return readFileSync(PAGE, 'utf8');
}

function writePage(page: string): void {
  writeFileSync(PAGE, replaceSection(page, 'machine', describeMachine()));
}

function describeMachine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 1024 ** 3);
  const day = new Date().toISOString().slice(0, 10);
  return [
    `- ${cpus().length} CPUs: ${cpu?.model.trim() ?? 'unknown'}; ${gib} GiB`,
    `- ${type()} ${release().split('-')[0]}, Node ${process.versions.node}`,
    `- last written on ${day}\n`,
  ].join('\n');
}
