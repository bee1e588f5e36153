import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench, goals, ms, quantile } from './harness.ts';
import {
  fileText,
  listNames,
  localHome,
  measureBareStart,
  mib,
  type Running,
  readMemory,
  spin,
  start,
  startTray,
  until,
  untilArmed,
} from './rig.ts';
import { storm } from './storm.ts';

const HUNDRED = listNames(100);

export const benches = [
  bench('POST /api/send answered -> line in the event file, p50 / p99', '<= 2 / 20 ms', sendToLine),
  goals(
    [{ name: 'storm: 1,000 personas get a message each, from rest, last line durable', unit: 'ms', bar: 50 }],
    async () => [await storm(listNames(1000))],
  ),
  bench('start -> first armed of 100 personas, local hive', '<= 1000 ms', startToArmed),
  bench('resident, tray, 100 personas, after 10,000 mails', '<= 115 MiB, flat within 10', trayMemory),
];

async function sendToLine() {
  const home = localHome(['ada']);
  await using tray = await startTray(home);
  await untilArmed(home, ['ada']);
  const agent = new Agent({ keepAlive: true });
  const path = join(home, 'hivebar', 'events', 'events.ada.ndjson');
  const fd = openSync(path, 'r');
  const took: number[] = [];
  for (let i = 0; i < 600; i += 1) {
    const before = fstatSync(fd).size;
    const answered = await send(agent, tray.port, tray.token, 'ada', `mail ${i}`);
    await spin(() => fstatSync(fd).size > before);
    if (i >= 100) took.push(performance.now() - answered);
    await sleep(Math.random() * 2);
  }
  closeSync(fd);
  agent.destroy();
  const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
  return {
    figure: `${ms(p50)} / ${ms(p99)}`,
    floor: 'none: the line may come before the answer',
    met: p50 <= 2 && p99 <= 20,
  };
}

function send(agent: Agent, port: number, token: string, to: string, content: string): Promise<number> {
  const text = JSON.stringify({ to, from: 'bench', content });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path: '/api/send', method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(performance.now()));
    })
      .on('error', reject)
      .end(text);
  });
}

async function startToArmed() {
  const took: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const home = localHome(HUNDRED);
    const from = performance.now();
    await using tray = await start(['run', '--port', '0', '--no-tray', '--no-notifications'], home);
    await untilArmed(home, HUNDRED);
    took.push(performance.now() - from);
    await tray.stop();
    bare.push(await measureBareStart());
  }
  const own = quantile(took, 0.5);
  return { figure: ms(own), floor: `${ms(quantile(bare, 0.5))} node -e 0`, met: own <= 1000 };
}

async function trayMemory() {
  const home = localHome(HUNDRED);
  await using tray = await startTray(home);
  await untilArmed(home, HUNDRED);
  const seen: number[] = [];
  for (let part = 0; part < 4; part += 1) {
    await deliver(tray, 2500, part);
    await sleep(1500);
    seen.push(readMemory(tray.pid).rss);
  }
  const { rss, own } = readMemory(tray.pid);
  const [early = 0] = seen.slice(1);
  const flat = Math.max(...seen.slice(1)) - early;
  return {
    figure: `${mib(rss)} (private ${mib(own)}), ${seen.map((n) => n.toFixed(0)).join(' ')} at each quarter`,
    floor: '87 MiB measured with fastify, undici, conf and SQLite',
    met: rss <= 115 && flat <= 10,
  };
}

async function deliver(tray: Running & { port: number; token: string }, count: number, part: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  for (let i = 0; i < count; i += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, k) =>
        send(
          agent,
          tray.port,
          tray.token,
          HUNDRED[(i + k) % 100] ?? '',
          `part ${part}, mail ${i + k}: ${'text '.repeat(40)}`,
        ),
      ),
    );
  }
  agent.destroy();
  const folder = join(tray.home, 'events');
  await until('all lines', () => {
    const lines = readdirSync(folder).reduce(
      (n, f) => n + (fileText(join(folder, f))?.match(/"event": "new"/g)?.length ?? 0),
      0,
    );
    return lines >= 100 + (part + 1) * count;
  });
}
