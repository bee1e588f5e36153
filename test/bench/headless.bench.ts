import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchHive, benchHive } from './bench-hive.ts';
import { type Floor, type Goal, goals, type Sample, type ValueUnit } from './harness.ts';
import { type Headless, startHeadless } from './headless-rig.ts';
import { listNames, measureBareStart, measureCost, readMemory, startBareNode } from './rig.ts';

/** What a start leaves to be done is no idling. */
const REST_MS = 30_000;
const IDLE_MS = 60_000;
/** As with the tray process: the pending list is held open, so a message arrives at once. */
const LONG_POLL = ['--wait', '50'];
const COUNTS = [1, 100];

const forEach = (subject: string, unit: ValueUnit, bars: readonly (number | null)[]): readonly Goal[] =>
  COUNTS.map((count, i) => ({ name: `${subject}, ${formatCount(count)}`, unit, bar: bars[i] ?? null }));

export const benches = [
  goals(forEach('start -> armed, headless', 'ms', [350, 600]), startToArmed),
  goals(forEach('resident, headless, after 10 messages each', 'MiB', [70, 80]), resident),
  goals(
    [
      ...forEach('idle, headless, long-poll', '%', [0.05, 0.1]),
      ...forEach('wake-ups of all threads, headless, long-poll', 'per min', [null, null]),
    ],
    idle,
    { isSlow: true, atOnce: true },
  ),
];

function formatCount(count: number): string {
  return count === 1 ? '1 persona' : `${count} personas`;
}

interface WatchedHive extends AsyncDisposable, Headless {
  readonly hive: BenchHive;
  readonly names: readonly string[];
}

async function startWatched(count: number): Promise<WatchedHive> {
  const names = listNames(count);
  await using stack = new AsyncDisposableStack();
  const hive = stack.use(await benchHive(names));
  const headless = await startHeadless(hive.url, count, LONG_POLL);
  stack.use(headless.cli);
  const owned = stack.move();
  return { ...headless, hive, names, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function startToArmed(): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  {
    await using _first = await startWatched(1); // what it compiles is there for the next ones
  }
  for (const count of COUNTS) {
    await using watched = await startWatched(count);
    const floor: Floor = { value: await measureBareStart(), unit: 'ms', what: 'node -e 0' };
    samples.push({ value: watched.armedAfter, floor });
  }
  return samples;
}

async function resident(): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  using bare = await startBareNode("require('undici')");
  for (const count of COUNTS) {
    await using watched = await startWatched(count);
    for (let round = 0; round < 10; round += 1) {
      for (const name of watched.names) watched.hive.deliver(name);
      await sleep(1500);
    }
    const { rss, own } = readMemory(watched.cli.pid);
    const floor: Floor = { value: readMemory(bare.pid).rss, unit: 'MiB', what: 'a Node that has loaded undici' };
    samples.push({ value: rss, note: `private ${own.toFixed(0)} MiB`, floor });
  }
  return samples;
}

/** Both at once, each in a process of its own, beside a Node that waits. */
async function idle(): Promise<readonly Sample[]> {
  await using small = await startWatched(1);
  await using large = await startWatched(100);
  using bare = await startBareNode();
  await sleep(REST_MS);
  const [single, hundred, least] = await Promise.all(
    [small.cli, large.cli, bare].map(({ pid }) => measureCost(pid, IDLE_MS)),
  );
  if (single === undefined || hundred === undefined || least === undefined) throw new Error('nothing was measured');
  const percent: Floor = { value: least.percent, unit: '%', what: 'a Node that waits' };
  const wakeUps: Floor = { value: least.wakeUpsPerMinute, unit: 'per min', what: 'a Node that waits' };
  return [
    ...[single, hundred].map((cost) => ({ value: cost.percent, floor: percent })),
    ...[single, hundred].map((cost) => ({ value: cost.wakeUpsPerMinute, floor: wakeUps })),
  ];
}
