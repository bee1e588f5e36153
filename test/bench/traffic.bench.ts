import { spawn } from 'node:child_process';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from './browser.ts';
import { type Floor, goals, type Sample } from './harness.ts';
import { listNames, localHome, measureCost, packed, post, startTray, temporary, until, untilArmed } from './rig.ts';

const PER_SECOND = 100;
const WARM_MS = 20_000;
const MEASURED_MS = 30_000;

export const benches = [
  goals(
    [
      {
        name: 'CPU, 100 messages per second for 100 personas, page, stream and follower open',
        unit: '%',
        bar: 12,
      },
    ],
    measureTraffic,
    { isSlow: true },
  ),
];

/** The messages are sent to the local hive, so the cost of their requests and of storing them is in the figure. */
async function measureTraffic(): Promise<readonly Sample[]> {
  const names = listNames(100);
  const home = localHome(names);
  await using stack = new AsyncDisposableStack();
  const tray = stack.use(await startTray(home));
  await untilArmed(home, names);
  const follower = stack.adopt(await startFollower(tray.home, names[0] ?? ''), ({ child }) => void child.kill());
  const stream = stack.adopt(openStream(tray.port, tray.token), ({ socket }) => void socket.destroy());
  const browser = stack.use(await launchBrowser());
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${tray.port}/`);
  await page.locator('#link[data-link="live"]').waitFor();

  const traffic = startTraffic(tray, names);
  stack.defer(() => traffic.stop());
  await sleep(WARM_MS);
  const before = { sent: traffic.sent, streamed: stream.events };
  const { percent } = await measureCost(tray.pid, MEASURED_MS);
  const sent = traffic.sent - before.sent;
  const streamed = stream.events - before.streamed;
  await traffic.stop();
  if (follower.lines === 0) throw new Error('the follower printed nothing');
  const perSecond = ((sent * 1000) / MEASURED_MS).toFixed(0);
  const floor: Floor = { value: await measureFloor(names), unit: '%', what: 'a server that appends and flushes each' };
  return [{ value: percent, note: `${perSecond} per second sent, ${streamed} of ${sent} streamed`, floor }];
}

/** What the same requests cost a server that only makes them durable. */
async function measureFloor(names: readonly string[]): Promise<number> {
  const program = `
    const { fdatasyncSync, openSync, writeSync } = require('node:fs');
    const fd = openSync(process.argv[1], 'a');
    const server = require('node:http').createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk) => { body += chunk; }).on('end', () => {
        writeSync(fd, body);
        fdatasyncSync(fd);
        response.end('{}');
      });
    });
    server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)));
  `;
  const child = spawn(process.execPath, ['-e', program, join(temporary(), 'journal')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk))),
  );
  const traffic = startTraffic({ port, token: '' }, names);
  try {
    await sleep(WARM_MS / 4);
    return (await measureCost(child.pid ?? 0, MEASURED_MS / 2)).percent;
  } finally {
    await traffic.stop();
    child.kill();
  }
}

/** One message every 10 ms, to each persona in turn, whatever the answers take. */
function startTraffic(tray: { readonly port: number; readonly token: string }, names: readonly string[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let sent = 0;
  let due = performance.now();
  const failures: unknown[] = [];
  const timer = setInterval(() => {
    for (; due <= performance.now(); due += 1000 / PER_SECOND) {
      const to = names[sent % names.length] ?? '';
      sent += 1;
      const body = { to, from: 'bench', content: `message ${sent} ${'x'.repeat(150)}` };
      post(tray.port, tray.token, '/api/send', body, agent).catch((error: unknown) => failures.push(error));
    }
  }, 5);
  return {
    get sent() {
      if (failures.length > 0) throw failures[0];
      return sent;
    },
    async stop() {
      clearInterval(timer);
      await sleep(200);
      agent.destroy();
    },
  };
}

function openStream(port: number, token: string) {
  const socket = connect(port, '127.0.0.1');
  const stream = { socket, events: 0 };
  let rest = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    stream.events += lines.filter((line) => line.startsWith('event: event')).length;
  });
  socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return stream;
}

async function startFollower(state: string, persona: string) {
  const entry = join(await packed(), 'hivebar.cjs');
  const args = ['follow', '--harness', 'claude', '--json', '--no-session', '--from', 'now', persona];
  const env = { PATH: process.env.PATH, HOME: join(state, '..'), HIVEBAR_HOME: state };
  const child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const follower = { child, lines: 0 };
  child.stdout.on('data', (chunk: Buffer) => {
    follower.lines += chunk.toString().split('\n').length - 1;
  });
  await until('the follower', () => child.pid !== undefined);
  return follower;
}
