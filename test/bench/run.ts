/**
 * `npm run bench [-- WORDS] [--fast] [--runs N] [--write]`: every line of the `*.bench.ts` files, or those whose names hold
 * one of WORDS, one after the other. Lines that the program must reach are measured five times.
 *   --fast    once each, without the lines that take minutes
 *   --runs N  so often each
 *   --write   writes the lines into docs/performance.md
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Bench, type ResultLine, table } from './harness.ts';
import { writeSection } from './performance-page.ts';

const RUNS = 5;
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fast: { type: 'boolean', default: false },
    runs: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const words = positionals.map((word) => word.toLowerCase());
const runs = Number(flags.runs ?? (flags.fast ? 1 : RUNS));

const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.bench.ts'));
const all: Bench[] = [];
for (const name of names.sort()) {
  const { benches } = (await import(join(import.meta.dirname, name))) as { benches: readonly Bench[] };
  all.push(...benches);
}
const isNamed = ({ names: lines }: Bench): boolean =>
  words.length === 0 || lines.some((line) => words.some((word) => line.toLowerCase().includes(word)));
const named = all.filter(isNamed);
const chosen = named.filter(({ isSlow }) => !(flags.fast && isSlow && words.length === 0));

const goalRows: ResultLine[] = [];
const otherRows: ResultLine[] = [];
for (const bench of chosen) {
  process.stderr.write(`${bench.names.join('; ')} ...\n`);
  const rows = bench.isGoal ? goalRows : otherRows;
  try {
    rows.push(...(await bench.measure(runs)));
  } catch (error) {
    // A line that cannot be measured must not hide the others; it fails the run at its end.
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    rows.push(...bench.names.map((name) => ({ name, figure: '-', bar: '', floor: '-', met: false })));
    process.exitCode = 1;
  }
}

print(`Must reach (${runs === 1 ? 'one run' : `median, least and most of ${runs} runs`})`, goalRows);
print('Further lines (one run)', otherRows);
if (flags.write) {
  writeSection('goals', goalRows);
  writeSection('further', otherRows);
}
const left = named.length - chosen.length;
if (left > 0) process.stderr.write(`--fast left out ${left} lines that take minutes: name them to run them\n`);
if (chosen.length === 0) {
  const list = all.flatMap((bench) => bench.names.map((name) => `  ${name}\n`)).join('');
  process.stderr.write(`no line holds ${words.join(' or ')}; there are:\n${list}`);
  process.exitCode = 1;
}

function print(title: string, rows: readonly ResultLine[]): void {
  if (rows.length === 0) return;
  const head = ['WHAT', 'FIGURE', 'BAR', 'FLOOR OF THE SAME RUNS', ''];
  const body = rows.map(({ name, figure, bar, floor, met }) => [name, figure, bar, floor, formatVerdict(bar, met)]);
  process.stdout.write(`\n${title}\n${table([head, ...body])}`);
}

function formatVerdict(bar: string, met: boolean): string {
  if (bar === '') return met ? '' : 'FAILED';
  return met ? 'reached' : 'MISSED';
}
