/**
 * `npm run compare [-- --monitor PATH] [--fast] [--write]`: Hivebar beside what people would use instead, at the same work and
 * at the same time.
 *   --monitor PATH  a checkout of the Python monitor
 *   --fast          fewer personas, and a shorter time of rest
 *   --write         writes the table into docs/performance.md
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { formatValue, quantile, table, type ValueUnit } from '../harness.ts';
import { writeTable } from '../performance-page.ts';
import { listNames } from '../rig.ts';
import { type Contestant, measureQuietCost, type StartContestant } from './contestant.ts';
import { findMissing, startHivebarFollow, startInotifywait, startTailWithJq } from './followers.ts';
import { pythonMonitor, startHivebarWatcher } from './watchers.ts';

/** At which idle cost, memory, start and stop are measured, beside 1. */
const IDLE_AT = 100;
const ROUNDS = 60;
const COLD = 15;

const { values: flags } = parseArgs({
  options: {
    monitor: { type: 'string' },
    fast: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const COUNTS = flags.fast ? [1, 100] : [1, 20, 100, 1000];
const REST_MS = flags.fast ? 5000 : 20_000;
const IDLE_MS = flags.fast ? 15_000 : 60_000;
const remarks: string[] = [];

/** The first one of a group is what the ratios go by. */
interface Group {
  /** What its programs do. */
  readonly work: string;
  readonly starts: readonly { readonly name: string; readonly start: StartContestant }[];
}

const GROUPS: readonly Group[] = [
  {
    work: 'hive -> file',
    starts: [{ name: 'hivebar watch', start: startHivebarWatcher }, ...monitorStarts()],
  },
  {
    work: 'file -> reader',
    starts: [{ name: 'hivebar follow', start: startHivebarFollow }, ...followerStarts()],
  },
];

const names = GROUPS.flatMap(({ starts }) => starts.map(({ name }) => name));
/** What was measured of whom, by line and name. */
const lines = new Map<string, Map<string, string>>();

for (const group of GROUPS) {
  for (const { start } of group.starts) await (await start(listNames(1)))?.stop(); // what is compiled is there from now on
  for (const count of COUNTS) await compare(group, count);
}
remarks.push(
  'Ratios in brackets go by the column of Hivebar that does the same work. Memory is private memory of all processes.',
  'inotifywait only says that a file changed. hivebar follow serves one persona: each agent runs its own.',
  'hivebar follow hands lines over once per second at most, so that many lines wake an agent once. Here each line comes later.',
  'Uptime Kuma is left out: the package registry does not have it.',
);
const head = ['', ...names];
const rows = [head, ...[...lines].map(([name, cells]) => [name, ...names.map((column) => cells.get(column) ?? '-')])];
process.stdout.write(`\n${table(rows)}\n${remarks.map((remark) => `${remark}\n`).join('')}`);
if (flags.write) writeTable('compare', rows, remarks);

function monitorStarts(): Group['starts'] {
  const folder = flags.monitor === undefined ? null : resolve(flags.monitor);
  if (folder === null) remarks.push('The Python monitor is left out: give a checkout of it with --monitor PATH.');
  if (folder === null) return [];
  const file = join(folder, 'kijito_inbox_monitor.py');
  if (!existsSync(file)) throw new Error(`${file} is missing: give a checkout of the Python monitor with --monitor`);
  return [{ name: 'Python monitor', start: pythonMonitor(folder) }];
}

function followerStarts(): Group['starts'] {
  const programs = [
    { name: 'tail -F with jq', needs: ['tail', 'jq'], start: startTailWithJq },
    { name: 'inotifywait', needs: ['inotifywait'], start: startInotifywait },
  ];
  return programs.filter(({ name, needs }) => {
    const missing = findMissing(needs);
    if (missing.length > 0) remarks.push(`${name} is left out: ${missing.join(' and ')} is not installed.`);
    return missing.length === 0;
  });
}

/** All of a group at so many personas. They take turns, so that what else the machine does is the same for all. */
async function compare({ work, starts }: Group, count: number): Promise<void> {
  const personas = listNames(count);
  const contestants: Contestant[] = [];
  for (const { name, start } of starts) {
    process.stderr.write(`${name}, ${count} ...\n`);
    const contestant = await start(personas);
    if (contestant !== null) contestants.push(contestant);
  }
  const each = async (measure: (contestant: Contestant) => Promise<number>): Promise<readonly number[]> => {
    const values: number[] = [];
    for (const contestant of contestants) values.push(await measure(contestant));
    return values;
  };
  const took = contestants.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(Math.random() * 5);
    const values = await each((contestant) => contestant.deliver(personas[(round * 7) % count] ?? ''));
    if (round >= COLD) for (const [i, value] of values.entries()) took[i]?.push(value);
  }
  const p50 = took.map((values) => quantile(values, 0.5));
  record(`${work}, p50, ${formatCount(count)}`, 'ms', contestants, p50);
  if (count === 1 || count === IDLE_AT) await compareQuietCosts(contestants, count);
  if (count === 1000) {
    const storms: (readonly number[])[] = [];
    for (let round = 0; round < 3; round += 1) {
      await sleep(1500);
      storms.push(await each((contestant) => contestant.storm()));
    }
    const medians = contestants.map((_, i) =>
      quantile(
        storms.flatMap((values) => values[i] ?? []),
        0.5,
      ),
    );
    record(`${work}, one message for each of 1,000, last line`, 'ms', contestants, medians);
  }
  const ready = contestants.map(({ readyAfter }) => readyAfter);
  const stopped = await each((contestant) => contestant.stop());
  if (count !== 1 && count !== IDLE_AT) return;
  record(`start -> ready, ${formatCount(count)}`, 'ms', contestants, ready);
  record(`SIGTERM -> end, ${formatCount(count)}`, 'ms', contestants, stopped);
}

async function compareQuietCosts(contestants: readonly Contestant[], count: number): Promise<void> {
  await sleep(REST_MS);
  const costs = await Promise.all(contestants.map((contestant) => measureQuietCost(contestant, IDLE_MS)));
  const list = (key: keyof (typeof costs)[number]): readonly number[] => costs.map((cost) => cost[key]);
  record(`idle, ${formatCount(count)}`, '%', contestants, list('percent'));
  record(`wake-ups while idle, ${formatCount(count)}`, 'per min', contestants, list('wakeUpsPerMinute'));
  record(`private memory, ${formatCount(count)}`, 'MiB', contestants, list('privateMib'));
}

function formatCount(count: number): string {
  return count === 1 ? '1 persona' : `${count.toLocaleString('en-US')} personas`;
}

function record(line: string, unit: ValueUnit, contestants: readonly Contestant[], values: readonly number[]): void {
  const cells = lines.get(line) ?? new Map<string, string>();
  lines.set(line, cells);
  const [base = 0] = contestants[0]?.name.startsWith('hivebar') === true ? values : [];
  for (const [i, { name }] of contestants.entries()) {
    const value = values[i] ?? 0;
    const ratio = i === 0 || base === 0 ? '' : ` (${(value / base).toFixed(2)} x)`;
    cells.set(name, `${formatValue(value, unit)}${ratio}`);
    process.stderr.write(`${name}: ${line}: ${cells.get(name)}\n`);
  }
}
