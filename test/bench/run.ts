/** Runs every `*.bench.ts`, or those whose lines hold one of the words given, one after the other. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, table } from './harness.ts';

const words = process.argv.slice(2).map((word) => word.toLowerCase());
const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.bench.ts'));
const found: Bench[] = [];
for (const name of names.sort()) {
  const { benches } = (await import(join(import.meta.dirname, name))) as { benches: readonly Bench[] };
  found.push(...benches);
}
const chosen = found.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word)),
);

const rows: string[][] = [['WHAT', 'FIGURE', 'BAR', 'FLOOR OF THIS RUN', '']];
for (const { name, bar, run } of chosen) {
  process.stderr.write(`${name} ...\n`);
  try {
    const { figure, floor, met } = await run();
    rows.push([name, figure, bar, floor, met ? 'reached' : 'MISSED']);
  } catch (error) {
    // A line that cannot be measured must not hide the others; it fails the run at its end.
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    rows.push([name, '-', bar, '-', 'FAILED']);
    process.exitCode = 1;
  }
}
process.stdout.write(`\n${table(rows)}`);
if (chosen.length === 0) {
  process.stderr.write(
    `no line holds ${words.join(' or ')}; there are:\n${found.map(({ name }) => `  ${name}\n`).join('')}`,
  );
  process.exitCode = 1;
}
