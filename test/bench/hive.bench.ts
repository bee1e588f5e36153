import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchHive, benchHive } from './bench-hive.ts';
import { bench, goals, ms, quantile, type Sample } from './harness.ts';
import { startHeadless } from './headless-rig.ts';
import { fileText, kijitoHome, listNames, readCpuMs, spin, startTray, temporary, until } from './rig.ts';

const ROUNDS = 300;
const WARM = 60;

export const benches = [
  ...[1, 20, 100].map((n) =>
    goals(
      [{ name: `hive's answer -> line durable, p50, ${n} persona${n === 1 ? '' : 's'}`, unit: 'x', bar: 1.35 }],
      () => answerToLine(n),
    ),
  ),
  bench('quiet tick, 100 personas, headless', '1 request, 0 event and 0 state writes, <= 2 ms CPU', quietTick),
  bench('SIGTERM -> end, also inside a long-poll hold', '<= 300 ms', sigterm),
];

/** Something that writes a line for each message of its own hive. */
interface Writer extends AsyncDisposable {
  readonly hive: BenchHive;
  /** Nanoseconds of the machine's monotonic clock when the line of this message was readable and durable. */
  written(id: number, deliver: () => void): Promise<bigint>;
}

/** Hivebar and the floors take turns, so that what else the machine does is the same for all. */
async function answerToLine(n: number): Promise<readonly Sample[]> {
  await using own = await hivebarWriter(n);
  await using withUndici = await floorWriter('undici');
  await using withSocket = await floorWriter('socket');
  const took = new Map<Writer, number[]>([own, withUndici, withSocket].map((writer) => [writer, []]));
  for (let i = 0; i < ROUNDS; i += 1) {
    for (const [writer, times] of took) {
      const time = await measureRound(writer);
      if (i >= WARM && time !== null) times.push(time);
    }
  }
  // The bar goes by the floor that asks as Hivebar has to ask; the other says what undici costs.
  const [a = 0, b = 0, bare = 0] = [...took.values()].map((times) => quantile(times, 0.5));
  return [
    {
      value: a / b,
      note: `${ms(a)}, p99 ${ms(quantile(took.get(own) ?? [], 0.99))}; by a bare socket ${ms(bare)}`,
      floor: { value: b, unit: 'ms', what: 'answer by undici, append, fdatasync' },
    },
  ];
}

/** Milliseconds from the answer that held a message to its line; null when nobody saw that answer. */
async function measureRound({ hive, written }: Writer): Promise<number | null> {
  await spin(() => hive.holding);
  await sleep(Math.random() * 2);
  let id = 0;
  const at = await written(hive.last + 1, () => {
    id = hive.deliver('persona-0000');
  });
  const answered = hive.answeredAt(id);
  return answered === undefined ? null : Number(at - answered) / 1e6;
}

/** A tray process; a line of its event file is durable when it is there. */
async function hivebarWriter(n: number): Promise<Writer> {
  await using stack = new AsyncDisposableStack();
  const hive = stack.use(await benchHive(listNames(n)));
  const home = kijitoHome(hive.url);
  stack.use(await startTray(home));
  const path = join(home, 'hivebar', 'events', 'events.persona-0000.ndjson');
  await until('armed', () => fileText(path)?.includes('"armed"'));
  const fd = openSync(path, 'r');
  stack.defer(() => closeSync(fd));
  const owned = stack.move();
  return {
    hive,
    async written(_id, deliver) {
      const before = fstatSync(fd).size;
      deliver();
      await spin(() => fstatSync(fd).size > before);
      return process.hrtime.bigint();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function floorWriter(how: 'undici' | 'socket'): Promise<Writer> {
  await using stack = new AsyncDisposableStack();
  const hive = stack.use(await benchHive(['persona-0000']));
  const args = [join(import.meta.dirname, 'floor-writer.ts'), new URL(hive.url).port, join(temporary(), 'floor'), how];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  stack.defer(() => void child.kill());
  const durable = new Map<number, bigint>();
  let ready = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') ready = true;
    const [id, at] = line.split(' ');
    if (at !== undefined) durable.set(Number(id), BigInt(at));
  });
  await until('the floor writer', () => ready);
  const owned = stack.move();
  return {
    hive,
    async written(id, deliver) {
      deliver();
      await spin(() => durable.has(id));
      return durable.get(id) ?? 0n;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function quietTick() {
  await using hive = await benchHive(listNames(100));
  // The full look at least every so many ticks is another matter: here only the quiet ones are counted.
  const { home, cli } = await startHeadless(hive.url, 100, ['--poll-seconds', '1', '--resync-every', '1000']);
  await using _ = cli;
  await sleep(14_000); // until V8 has tidied up after the start
  const before = {
    inbox: hive.counts.inbox,
    pending: hive.counts.pending,
    cpu: readCpuMs(cli.pid),
    files: listStamps(home),
  };
  await sleep(20_000);
  const ticks = hive.counts.pending - before.pending;
  const cpu = (readCpuMs(cli.pid) - before.cpu) / ticks;
  const writes = listStamps(home).filter((stamp, i) => stamp !== before.files[i]).length;
  const requests = (hive.counts.inbox - before.inbox + ticks) / ticks;
  return {
    figure: `${requests} request, ${writes} writes, ${ms(cpu)} CPU (${ticks} ticks)`,
    floor: 'none',
    met: requests === 1 && writes === 0 && cpu <= 2,
  };
}

/** Inode, size and time of every file: any write of an event or a state shows in one of them. */
function listStamps(home: string): string[] {
  return readdirSync(home)
    .sort()
    .map((name) => statSync(join(home, name)))
    .map((s) => `${s.ino} ${s.size} ${s.mtimeMs}`);
}

async function sigterm() {
  const took: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    await using hive = await benchHive(listNames(20));
    const tray = await startTray(kijitoHome(hive.url));
    if (i % 2 === 0) {
      await until('a hold', () => hive.holding);
      void fetch(`http://127.0.0.1:${tray.port}/api/notify/pending?wait=50&cursor=x`).catch(() => {}); // ends with the process
    }
    await sleep(Math.random() * 300);
    took.push(await tray.stop());
  }
  for (let i = 0; i < 6; i += 1) {
    await using hive = await benchHive(listNames(100));
    const { cli } = await startHeadless(hive.url, 100, ['--poll-seconds', '1']);
    await sleep(Math.random() * 1500);
    took.push(await cli.stop());
  }
  const worst = Math.max(...took);
  return {
    figure: `${ms(worst)} at worst of ${took.length}, p50 ${ms(quantile(took, 0.5))}`,
    floor: 'none',
    met: worst <= 300,
  };
}
