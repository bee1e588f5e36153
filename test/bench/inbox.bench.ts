import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { runWithItems } from '../../app/cli/open-local-hive.ts';
import type { Io } from '../../core/command/index.ts';
import { drain } from '../../core/inbox/drain/index.ts';
import { type Items, type NewItem, openItems } from '../../core/inbox/index.ts';
import { takeOver } from '../../core/inbox/queue/index.ts';
import { realClock, realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { compiledWriter, done, listWritten, noCompiler, noPython, startWriter } from '../kit/queue-writers.ts';
import { bench, goals, ms, quantile, type Sample } from './harness.ts';
import { startTray, temporary } from './rig.ts';

const PENDING = 100_000;
const STARTED = Math.floor(realClock.now());

export const benches = [
  bench('items pushed one by one by one process, each durable', '>= 200 a second', pushes),
  ...[1, 10].map((flying) =>
    goals(
      ['the first 5,000 after the start', 'after 30,000'].map((when) => ({
        name: `POST /api/send, 10 clients with ${flying} on the way each, ${when}`,
        unit: 'per s',
        bar: 5000,
        isAtLeast: true,
      })),
      () => sends(flying),
    ),
  ),
  bench('drain of 20 out of 100,000 pending, p50', '<= 3 ms', drains),
  bench('pending by priority of 100,000, p50', '<= 3 ms', counts),
  bench('12,000 lines of 6 writers in Python and C against a draining reader', '0 lost, 0 twice', queued),
];

/** By the way of the command: what it opens is opened once, and each item is a transaction of its own. */
async function pushes() {
  const io: Io = {
    env: { HIVEBAR_HOME: join(temporary(), 'hivebar') },
    out: () => {},
    err: (text) => void process.stderr.write(text),
    input: async () => '',
  };
  const count = 1000;
  const rate = await runWithItems(io, 'changes', (items) => {
    for (let n = 0; n < 20; n += 1) items.push([createItem(n)]);
    const from = performance.now();
    for (let n = 0; n < count; n += 1) items.push([createItem(n)]);
    return (count * 1000) / (performance.now() - from);
  });
  const floor = flushesASecond(count, 1);
  return { figure: aSecond(rate), floor: `${aSecond(floor)} lines appended and flushed`, met: rate >= 200 };
}

/**
 * `flying`: how many sends a client has on the way at once, each on a connection of its own. Durable when answered. The
 * first ones are slower, until what runs is compiled: their rate is shown beside it.
 */
async function sends(flying: number): Promise<readonly Sample[]> {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'floor-server.ts'), join(temporary(), 'floor')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  const floors = await measureSends(flying, Number(line), '').finally(() => server.kill());
  await using tray = await startTray(temporary());
  const rates = await measureSends(flying, tray.port, tray.token);
  return rates.map((value, at) => ({
    value,
    floor: { value: floors[at] ?? 0, unit: 'per s', what: 'a bare server that appends and flushes per turn' } as const,
  }));
}

/** Sends per second: of the first 5,000, and of 20,000 after 30,000. */
async function measureSends(flying: number, port: number, token: string): Promise<readonly [number, number]> {
  const clients = 10;
  const connections = clients * flying;
  const head = `POST /api/send HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
  const measureRate = async (mails: number): Promise<number> => {
    const from = performance.now();
    const send = (_: unknown, connection: number): Promise<void> => {
      const client = connection % clients;
      return exchange(connect(port, '127.0.0.1').setNoDelay(true), mails / connections, (n) => {
        const body = JSON.stringify({ to: `persona-${client}`, from: 'bench', content: `mail ${n} of ${client}` });
        return `${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
      });
    };
    await Promise.all(Array.from({ length: connections }, send));
    return (mails * 1000) / (performance.now() - from);
  };
  const cold = await measureRate(5000);
  await measureRate(25_000);
  return [cold, await measureRate(20_000)];
}

/**
 * Sends `count` requests, each when the one before is answered. The clients share two cores with the server, and while they read an answer
 * the server may have nothing to do. So they do as little as HTTP allows.
 * @throws unless each answer is 200
 */
function exchange(socket: Socket, count: number, toRequest: (n: number) => string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    let answered = 0;
    socket.on('error', reject).on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? -1);
      if (end < 0 || text.length < end + 4 + length) return;
      if (!text.startsWith('HTTP/1.1 200')) return void reject(new Error(text));
      text = '';
      answered += 1;
      if (answered < count) return void socket.write(toRequest(answered), 'latin1');
      socket.destroy();
      resolve();
    });
    socket.write(toRequest(0), 'latin1');
  });
}

async function drains() {
  using rig = pendingRig();
  const took: number[] = [];
  for (let n = 0; n < 220; n += 1) {
    const from = performance.now();
    const drained = drain(
      { items: rig.items, takeOver: null, clock: realClock, log: silentLog },
      { persona: 'ada', session: 's', upTo: 4, room: 9500 },
    );
    if (drained?.items.length !== 20) throw new Error(`drained ${drained?.items.length}`);
    drained.commit();
    if (n >= 20) took.push(performance.now() - from);
  }
  const p50 = quantile(took, 0.5);
  return { figure: `${ms(p50)}, p99 ${ms(quantile(took, 0.99))}`, floor: 'none: two transactions', met: p50 <= 3 };
}

async function counts() {
  using rig = pendingRig();
  const took: number[] = [];
  for (let n = 0; n < 220; n += 1) {
    const from = performance.now();
    rig.items.pending('ada', 's');
    if (n >= 20) took.push(performance.now() - from);
  }
  const p50 = quantile(took, 0.5);
  return { figure: ms(p50), floor: 'none: 1,000 of each priority are counted', met: p50 <= 3 };
}

/** A persona with as many items as nobody has. */
function pendingRig(): Disposable & { readonly items: Items } {
  const db = openDatabase(join(temporary(), 'hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  for (let from = 0; from < PENDING; from += 1000)
    items.push(Array.from({ length: 1000 }, (_, n) => createItem(from + n)));
  return { items, [Symbol.dispose]: () => db[Symbol.dispose]() };
}

function createItem(n: number): NewItem {
  return {
    ...{
      to: { is: 'persona', name: 'ada' },
      type: 'event',
      source: 'ci',
      priority: ([1, 2, 3, 4] as const)[n % 4] ?? 2,
    },
    ...{ session: null, created: STARTED + n, expires: null, dedupKey: null },
    content: `build ${n}: ${'all of its tests have passed '.repeat(5)}`,
  };
}

async function queued() {
  const missing = noPython ?? noCompiler;
  if (missing !== null) throw new Error(missing);
  const dir = temporary();
  using db = openDatabase(join(dir, 'hivebar.sqlite'));
  const items = openItems({ db, clock: realClock });
  mkdirSync(join(dir, 'inject-queue'), { mode: 0o700 });
  const queue = { path: join(dir, 'inject-queue', 's1.jsonl'), persona: 'ada' };
  const program = compiledWriter(dir);
  const writings = ['p1', 'p2', 'p3', 'c1', 'c2', 'c3'].map((name) => ({ path: queue.path, name, count: 2000 }));
  const machine = { disk: createRealDisk(silentLog), clock: realClock, random: realRandom };
  const from = performance.now();
  let running = writings.length;
  const ended = writings.map((writing) =>
    done(startWriter(writing.name.startsWith('c') ? program : null, writing)).finally(() => {
      running -= 1;
    }),
  );
  const all = Promise.all(ended);
  let drained = 0;
  const check = (): void => {
    if (takeOver(machine, queue, items.push, 250).items > 0) drained += 1;
  };
  while (running > 0) {
    check();
    await turn();
  }
  await all;
  check();
  const took = performance.now() - from;
  const stored = db
    .prepare<{ content: string }>('SELECT content FROM inbox')
    .all()
    .map(({ content }) => content);
  const seen = new Set(stored);
  const lost = writings.flatMap(listWritten).filter((line) => !seen.has(line)).length;
  const twice = stored.length - seen.size;
  return {
    figure: `${lost} lost, ${twice} twice; ${drained} drains, ${aSecond((12_000 * 1000) / took)}`,
    floor: 'none: as fast as they write',
    met: lost === 0 && twice === 0 && seen.size === 12_000,
  };
}

/** So many flushes of this disk, each of `lines` lines. */
function flushesASecond(count: number, lines: number): number {
  const fd = openSync(join(temporary(), 'journal'), 'a');
  const text = Buffer.from(`${'x'.repeat(200)}\n`.repeat(lines));
  const from = performance.now();
  for (let n = 0; n < count; n += 1) {
    writeSync(fd, text);
    fdatasyncSync(fd);
  }
  const took = performance.now() - from;
  closeSync(fd);
  return (count * 1000) / took;
}

const aSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en-US')} a second`;
