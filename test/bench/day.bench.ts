import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { goals, type Sample } from './harness.ts';
import { kijitoHome, listNames, readMemory, startBareNode, startTray, untilArmed } from './rig.ts';

/**
 * Its clocks and timers run so many times as fast: a day takes twelve minutes. Much faster, and a short stall of the machine is
 * a sleep of the program.
 */
const FASTER = 120;
const DAY_MS = (24 * 3_600_000) / FASTER;
const MINUTE_MS = 60_000 / FASTER;
const PER_MINUTE = 3;
/** Real time after the day, in which what a message needs is given back. */
const REST_MS = 5000;

export const benches = [
  goals([{ name: 'resident, tray, 100 personas, after 24 simulated hours', unit: 'MiB', bar: 90 }], measureDay, {
    isSlow: true,
    atOnce: true,
  }),
];

/** The packed program on clocks that are faster, beside a hive that holds its list as much shorter. Three messages per minute. */
async function measureDay(): Promise<readonly Sample[]> {
  const names = listNames(100);
  await using hive = await startFastHive(names);
  const home = kijitoHome(hive.url);
  const fastTime = join(import.meta.dirname, '..', 'kit', 'fast-time.mjs');
  await using tray = await startTray(home, [], undefined, {
    NODE_OPTIONS: `--import=${fastTime}`,
    FASTER: String(FASTER),
  });
  await untilArmed(home, names);
  using bare = await startBareNode("require('fastify'); require('undici'); require('node:sqlite')");
  const seen: number[] = [];
  let sent = 0;
  for (const from = performance.now(); performance.now() - from < DAY_MS; await sleep(MINUTE_MS)) {
    for (let n = 0; n < PER_MINUTE; n += 1) {
      hive.deliver(names[(sent * 7) % names.length] ?? '');
      sent += 1;
    }
    if (sent % 900 === 0) seen.push(readMemory(tray.pid).rss);
  }
  await sleep(REST_MS);
  const sleeps = tray.stderr().match(/did not poll for/g)?.length ?? 0;
  const { rss, own } = readMemory(tray.pid);
  return [
    {
      value: rss,
      note: `private ${own.toFixed(0)} MiB, ${sent} messages, ${sleeps} stalls taken for a sleep, at most ${Math.max(rss, ...seen).toFixed(0)} MiB seen`,
      floor: { value: readMemory(bare.pid).rss, unit: 'MiB', what: 'a Node with fastify, undici and SQLite' },
    },
  ];
}

/** Keeps 20 messages per persona, which are read as soon as the next ones come. */
async function startFastHive(personas: readonly string[]) {
  const rows = new Map<string, object[]>();
  const held = new Set<() => void>();
  let last = 0;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://hive');
    if (pathname === '/api/personas') return answer(response, { result: personas.map((persona) => ({ persona })) });
    if (pathname !== '/api/notify/pending')
      return answer(response, { result: rows.get(searchParams.get('persona') ?? '') ?? [] });
    const list = (): void => {
      clearTimeout(timer);
      held.delete(list);
      const result = [...rows].map(([persona, { length }]) => ({ persona, unread: length, unread_urgent: 0 }));
      answer(response, { result, cursor: String(last) });
    };
    const waitMs = Number(searchParams.get('wait') ?? 0) * 1000;
    const isHeld = waitMs > 0 && searchParams.get('cursor') === String(last);
    const timer = setTimeout(list, isHeld ? waitMs / FASTER : 0);
    if (isHeld) held.add(list);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliver(persona: string): void {
      last += 1;
      const row = { id: last, from: 'bench', content: `message ${last} ${'x'.repeat(150)}`, created: 'c', read: false };
      rows.set(persona, [...(rows.get(persona) ?? []), row].slice(-20));
      for (const list of [...held]) list();
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}
