import { closeSync, fdatasyncSync, fstatSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { bench, ms, quantile } from './harness.ts';
import { fileText, mib, post, type Running, readMemory, spin, start, startTray, temporary, until } from './rig.ts';

const HUNDRED = names(100);

export const benches = [
  bench('POST /api/send answered -> line in the event file, p50 / p99', '<= 2 / 20 ms', sendToLine),
  bench('storm: 1,000 personas get one mail each, last line', '<= 50 ms', storm),
  bench('start -> first armed of 100 personas, local hive', '<= 1000 ms', startToArmed),
  bench('resident, tray, 100 personas, after 10,000 mails', '<= 115 MiB, flat within 10', trayMemory),
];

function names(n: number): string[] {
  return Array.from({ length: n }, (_, i) => `persona-${String(i).padStart(4, '0')}`);
}

/** Mail straight into the database of a home, as a store command writes it. */
function fill(home: string, mails: readonly { to: string; content: string }[]): void {
  mkdirSync(join(home, 'hivebar'), { recursive: true, mode: 0o700 });
  using db = openDatabase(join(home, 'hivebar', 'hivebar.sqlite'));
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
  void Promise.all(mails.map((mail) => hive.send({ ...mail, from: 'bench', urgent: false })));
}

function linesIn(home: string, persona: string): string {
  return fileText(join(home, 'hivebar', 'events', `events.${persona}.ndjson`)) ?? '';
}

async function armed(home: string, personas: readonly string[]): Promise<void> {
  for (const persona of personas) await until(`armed of ${persona}`, () => linesIn(home, persona).includes('"armed"'));
}

async function sendToLine() {
  const home = temporary();
  fill(home, [{ to: 'ada', content: 'first' }]);
  await using tray = await startTray(home);
  await armed(home, ['ada']);
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

/** Another process has written 1,000 mails and pokes: from the poke to the last of 1,000 lines. */
async function storm() {
  const home = temporary();
  const all = names(1000);
  fill(
    home,
    all.map((to) => ({ to, content: 'first' })),
  );
  await using tray = await startTray(home);
  await armed(home, all);
  const folder = join(home, 'hivebar', 'events');
  const took: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    await sleep(1800); // from rest, with a heap that was given back
    const sizes = new Map(all.map((p) => [p, statSync(join(folder, `events.${p}.ndjson`)).size]));
    fill(
      home,
      all.map((to) => ({ to, content: `mail of round ${round}` })),
    );
    const from = performance.now();
    const poked = post(tray.port, tray.token, '/api/v1/actions/hive-changed', {});
    const left = [...all];
    await spin(() => {
      while (left.length > 0) {
        const p = left.at(-1) ?? '';
        if (statSync(join(folder, `events.${p}.ndjson`)).size === sizes.get(p)) return false;
        left.pop();
      }
      return true;
    });
    if (round > 1) took.push(performance.now() - from);
    await poked;
  }
  const own = quantile(took, 0.5);
  const floor = quantile(
    [1, 2, 3, 4, 5].map(() => stormFloor()),
    0.5,
  );
  return { figure: ms(own), floor: `${ms(floor)} one flush, then 1,000 appends`, met: own <= 50 };
}

function stormFloor(): number {
  const folder = temporary();
  const line = Buffer.from(`${'x'.repeat(270)}\n`);
  const files = names(1000).map((p) => openSync(join(folder, p), 'a'));
  const journal = openSync(join(folder, 'journal'), 'a');
  const from = performance.now();
  writeSync(journal, Buffer.concat(files.map(() => line)));
  fdatasyncSync(journal);
  for (const fd of files) writeSync(fd, line);
  const took = performance.now() - from;
  for (const fd of [...files, journal]) closeSync(fd);
  return took;
}

async function startToArmed() {
  const took: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const home = temporary();
    fill(
      home,
      HUNDRED.map((to) => ({ to, content: 'first' })),
    );
    const from = performance.now();
    await using tray = await start(['run', '--port', '0', '--no-tray', '--no-notifications'], home);
    await armed(home, HUNDRED);
    took.push(performance.now() - from);
    await tray.stop();
    bare.push(await bareStart());
  }
  const own = quantile(took, 0.5);
  return { figure: ms(own), floor: `${ms(quantile(bare, 0.5))} node -e 0`, met: own <= 1000 };
}

async function bareStart(): Promise<number> {
  const { spawn } = await import('node:child_process');
  const from = performance.now();
  await new Promise((resolve) => spawn(process.execPath, ['-e', '0']).once('exit', resolve));
  return performance.now() - from;
}

async function trayMemory() {
  const home = temporary();
  fill(
    home,
    HUNDRED.map((to) => ({ to, content: 'first' })),
  );
  await using tray = await startTray(home);
  await armed(home, HUNDRED);
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
