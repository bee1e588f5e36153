import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../core/events/index.ts';
import { AS_WRITTEN, createHttpClient } from '../../core/net/index.ts';
import { realClock, realClocks, silentLog } from '../../core/ports/index.ts';
import { openOutbox } from '../../core/sinks/outbox/index.ts';
import { createHttpHive, parseHiveUrl } from '../../core/sources/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { benchHive } from './bench-hive.ts';
import { bench, goals, ms, quantile, type Sample } from './harness.ts';
import { startHeadless } from './headless-rig.ts';
import {
  fileText,
  kijitoHome,
  listNames,
  measureCost,
  readCpuMs,
  readMemory,
  spin,
  startBareNode,
  startTray,
  temporary,
  until,
} from './rig.ts';

/** What the Kijito inbox beyond rev 6 must reach. */
const SCOPE = { is: 'source', key: 'kijito' } as const;
const never = new AbortController().signal;

export const benches = [
  bench('message accepted by a long-polling hive -> event line, p50', '<= 3 ms', acceptedToLine),
  bench('walk of a 10,000-message gap in pages of 200', "<= 1.5 x the server's own time", walk),
  bench('1,000 personas, one tick with 10 of them changed', '11 requests, <= 50 ms CPU', changedTick),
  bench('sustained durable events, single / when batches form', '>= 2,500 / >= 20,000 a second', sustained),
  goals(
    [
      { name: 'one pending map per second, 1,000 personas, nothing changed', unit: '%', bar: 0.2 },
      { name: 'the same: resident', unit: 'MiB', bar: 150 },
    ],
    quietMap,
    { isSlow: true, atOnce: true },
  ),
  bench('loop stall while a 5,000-message window arrives', '<= 20 ms', stall),
];

async function acceptedToLine() {
  await using hive = await benchHive(listNames(1));
  const home = kijitoHome(hive.url);
  await using _tray = await startTray(home);
  const path = join(home, 'hivebar', 'events', 'events.persona-0000.ndjson');
  await until('armed', () => fileText(path)?.includes('"armed"'));
  const fd = openSync(path, 'r');
  const took: number[] = [];
  for (let i = 0; i < 200; i += 1) {
    await spin(() => hive.holding);
    await sleep(Math.random() * 5);
    const before = fstatSync(fd).size;
    const from = performance.now();
    hive.deliver('persona-0000');
    await spin(() => fstatSync(fd).size > before);
    if (i >= 40) took.push(performance.now() - from);
  }
  closeSync(fd);
  const p50 = quantile(took, 0.5);
  return {
    figure: `${ms(p50)}, p99 ${ms(quantile(took, 0.99))}`,
    floor: 'none: two requests and a flush',
    met: p50 <= 3,
  };
}

async function windowHive(messages: number, rows: number) {
  const args = [join(import.meta.dirname, 'window-hive.ts'), String(messages), String(rows)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve) =>
    createInterface({ input: child.stdout }).once('line', (line) => resolve(Number(line))),
  );
  return { url: `http://127.0.0.1:${port}`, port, [Symbol.dispose]: () => void child.kill() };
}

function readBody(agent: Agent, port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path }, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}

/** The server's own time is what a client pays that does nothing with the pages but ask for the next. */
async function walk() {
  using hive = await windowHive(10_000, 200);
  const fetcher = createHttpClient({
    url: hive.url,
    policy: AS_WRITTEN,
    scope: SCOPE,
    userAgent: 'bench',
    credential: null,
  });
  await using client = createHttpHive({
    hive: parseHiveUrl(hive.url, SCOPE),
    fetcher,
    clock: realClock,
    contentChars: 220,
    longPoll: false,
    scope: SCOPE,
    log: silentLog,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const own: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    let from = performance.now();
    const { messages: rows, gap } = await client.window('ada', 0, never);
    if (rows.length !== 10_000 || gap !== undefined) throw new Error(`${rows.length} rows, ${gap?.why}`);
    own.push(performance.now() - from);
    from = performance.now();
    for (let before = 10_001; before > 1; before -= 200)
      await readBody(agent, hive.port, `/api/inbox?persona=ada&mark_read=false&before_id=${before}`);
    bare.push(performance.now() - from);
  }
  agent.destroy();
  const [a, b] = [quantile(own, 0.5), quantile(bare, 0.5)];
  return {
    figure: `${ms(a)} (${(a / b).toFixed(2)} x)`,
    floor: `${ms(b)} asking for the same 50 pages`,
    met: a <= 1.5 * b,
  };
}

/** Only quiet ticks, or those with a change: the full look every so many ticks is another matter. */
const EACH_SECOND = ['--poll-seconds', '1', '--resync-every', '1000'];

async function changedTick() {
  await using hive = await benchHive(listNames(1000));
  const { cli } = await startHeadless(hive.url, 1000, EACH_SECOND);
  await using _ = cli;
  await sleep(15_000); // until V8 has tidied up after the start
  const ticks = 20;
  const before = { inbox: hive.counts.inbox, pending: hive.counts.pending, cpu: readCpuMs(cli.pid) };
  for (let tick = 0; tick < ticks; tick += 1) {
    const at = hive.counts.pending;
    for (let i = 0; i < 10; i += 1) hive.deliver(listNames(1000)[(tick * 10 + i) % 1000] ?? '');
    await until('the tick', () => hive.counts.pending > at);
    await sleep(200);
  }
  const cpu = (readCpuMs(cli.pid) - before.cpu) / ticks;
  const requests = (hive.counts.inbox - before.inbox + hive.counts.pending - before.pending) / ticks;
  return { figure: `${requests} requests, ${ms(cpu)} CPU`, floor: 'none', met: requests <= 11 && cpu <= 50 };
}

async function quietMap(): Promise<readonly Sample[]> {
  await using hive = await benchHive(listNames(1000));
  for (const name of listNames(1000)) hive.deliver(name);
  const { cli } = await startHeadless(hive.url, 1000, EACH_SECOND);
  await using _ = cli;
  await sleep(20_000);
  using floor = await startBareNode();
  const [own, bare] = await Promise.all([measureCost(cli.pid, 60_000), measureCost(floor.pid, 60_000)]);
  return [
    {
      value: own.percent,
      note: `${own.wakeUpsPerMinute.toFixed(0)} wake-ups per minute`,
      floor: { value: bare.percent, unit: '%', what: 'a Node that waits' },
    },
    {
      value: readMemory(cli.pid).rss,
      floor: { value: readMemory(floor.pid).rss, unit: 'MiB', what: 'a Node that waits' },
    },
  ];
}

/** Takes of the outbox, as the watches of the tray process make them: on a real disk, durable when they resolve. */
async function sustained() {
  const home = temporary();
  using db = openDatabase(join(home, 'hivebar.sqlite'));
  using outbox = openOutbox<{ cursor: number }>({
    db,
    disk: createRealDisk(silentLog),
    clock: realClock,
    clocks: realClocks,
    directory: join(home, 'events'),
    journal: join(home, 'outbox.journal'),
    onBehind: () => {},
  });
  let id = 0;
  const mail = (persona: string): Event => {
    id += 1;
    return {
      event: 'new',
      source: 'kijito-inbox',
      ts: new Date().toISOString(),
      persona,
      event_id: `${persona}:new:${id}`,
      wake_class: 'mail',
      id,
      from: 'bench',
      created: 'c',
      content: `message ${id} ${'x'.repeat(150)}`,
    };
  };
  const sinks = listNames(100).map((name) => ({ name, sink: outbox.sinkFor(name, name) }));
  for (const { sink } of sinks) await sink.open();
  const take = async (n: number, each: number): Promise<void> => {
    await Promise.all(
      sinks.slice(0, n).map(async ({ name, sink }) => {
        const events = Array.from({ length: each }, () => mail(name));
        const ack = await sink.take(events, { cursor: id }, never);
        if (ack.is !== 'all') throw new Error(ack.fault.message);
      }),
    );
  };
  const rate = async (times: number, n: number, each: number): Promise<number> => {
    const from = performance.now();
    for (let i = 0; i < times; i += 1) await take(n, each);
    return (times * n * each) / ((performance.now() - from) / 1000);
  };
  await rate(200, 1, 1); // until it is compiled
  const single = await rate(5000, 1, 1);
  await rate(20, 100, 2);
  const batches = await rate(300, 100, 2);
  return {
    figure: `${single.toFixed(0)} / ${batches.toFixed(0)} a second`,
    floor: 'none',
    met: single >= 2500 && batches >= 20_000,
  };
}

/** The longest time a tray process leaves a request unanswered while an inbox of 5,000 new messages is read and told. */
async function stall() {
  using hive = await windowHive(1, 5000);
  const home = kijitoHome(hive.url, { pollSeconds: 1, holdSeconds: 0, maxReplay: 100_000, eventsMaxBytes: 0 });
  await using tray = await startTray(home);
  const path = join(home, 'hivebar', 'events', 'events.ada.ndjson');
  await until('armed', () => fileText(path)?.includes('"armed"'));
  await sleep(5000);
  using pinger = startPinger(tray.port);
  const quiet = await pinger.during(() => sleep(2000));
  const worst: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const last = `"ada:new:${5001 + round * 5000}"`;
    const took = await pinger.during(async () => {
      await fetch(`${hive.url}/deliver?n=5000`);
      await until('the last', () => readEnd(path).includes(last));
    });
    worst.push(Math.max(...took));
    await sleep(3000); // afterwards it rests
  }
  const p50 = quantile(worst, 0.5);
  return {
    figure: `${ms(p50)} longest answer of /healthz, p50 of 3 windows, worst ${ms(Math.max(...worst))}`,
    floor: `${ms(Math.max(...quiet))} longest, ${ms(quantile(quiet, 0.5))} p50, while nothing arrives`,
    met: p50 <= 20,
  };
}

function startPinger(port: number) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'ping.ts'), String(port), '/healthz'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  return {
    /** Milliseconds of each answer while it goes on. */
    async during(work: () => Promise<unknown>): Promise<number[]> {
      const begun = once(lines, 'line');
      child.stdin.write('\n');
      await begun;
      await work();
      const output = once(lines, 'line');
      child.stdin.write('\n');
      return JSON.parse((await output)[0]) as number[];
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

function readEnd(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(2000);
    const got = readSync(fd, bytes, 0, bytes.length, Math.max(0, fstatSync(fd).size - bytes.length));
    return bytes.toString('utf8', 0, got);
  } finally {
    closeSync(fd);
  }
}
