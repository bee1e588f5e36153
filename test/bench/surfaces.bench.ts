import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench, goals, ms, quantile, type Sample } from './harness.ts';
import { eventFile, listNames, localHome, post, spin, startTray, untilArmed } from './rig.ts';

export const benches = [
  goals([{ name: 'event written -> SSE message, p50, 10 clients', unit: 'ms', bar: 3 }], () => eventToMessage(10)),
  goals([{ name: 'event written -> SSE message, p50, 100 clients', unit: 'ms', bar: 10 }], () => eventToMessage(100)),
  goals([{ name: 'event written -> SSE message, p50, 1,000 clients', unit: 'ms', bar: 30 }], () =>
    eventToMessage(1000),
  ),
  bench('/status.json with 100 personas, p50 / p99; unchanged = 304', '<= 1 / 10 ms', statusJson),
];

const HUNDRED = listNames(100);

/** So many readers on a port, and how many of them have got a text. */
async function readers(n: number, port: number, greeting: string, isReady: string) {
  let wanted = '\0';
  let have = 0;
  const sockets: Socket[] = [];
  await Promise.all(
    Array.from({ length: n }, async () => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      let tail = '';
      let ready: () => void = () => {};
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        const text = tail + chunk;
        if (text.includes(isReady)) ready();
        if (text.includes(wanted)) have += 1;
        tail = text.includes(wanted) ? '' : text.slice(-200);
      });
      socket.write(greeting);
      await new Promise<void>((resolve, reject) => {
        ready = resolve;
        socket.once('close', () => reject(new Error(`a reader was refused: ${tail.slice(0, 200)}`)));
      });
    }),
  );
  return {
    want: (text: string): void => {
      wanted = text;
      have = 0;
    },
    all: (): boolean => have === n,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** From the line in the event file to the message at the last of all clients. */
async function eventToMessage(clients: number): Promise<readonly Sample[]> {
  const home = localHome(['ada']);
  await using tray = await startTray(home);
  await untilArmed(home, ['ada']);
  const hello = `GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${tray.port}\r\nAuthorization: Bearer ${tray.token}\r\n\r\n`;
  using streams = await readers(clients, tray.port, hello, 'event: status');
  const fd = openSync(eventFile(home, 'ada'), 'r');
  const took: number[] = [];
  for (let i = 0; i < 250; i += 1) {
    const mark = `mail-${i}.`;
    streams.want(mark);
    const before = fstatSync(fd).size;
    const answered = post(tray.port, tray.token, '/api/send', { to: 'ada', from: 'bench', content: mark });
    await spin(() => fstatSync(fd).size > before);
    const written = performance.now();
    await spin(streams.all);
    if (i >= 50) took.push(performance.now() - written);
    await answered;
    await sleep(Math.random() * 4);
  }
  closeSync(fd);
  return [
    {
      value: quantile(took, 0.5),
      note: `p99 ${ms(quantile(took, 0.99))}, at the last client`,
      floor: { value: await fanOutFloor(clients), unit: 'ms', what: 'the same bytes from a bare socket server' },
    },
  ];
}

/** One message of an event's size to so many sockets, until the last has it; server and clients in one process. */
async function fanOutFloor(clients: number): Promise<number> {
  const far: Socket[] = [];
  const server = createSocketServer((socket) => {
    far.push(socket);
    socket.write('ready');
    socket.resume().on('error', () => {}); // the clients end without a word
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const took: number[] = [];
  {
    using near = await readers(clients, (server.address() as AddressInfo).port, 'hello', 'ready');
    for (let i = 0; i < 200; i += 1) {
      near.want(`mail-${i}.`);
      const from = performance.now();
      for (const socket of far) socket.write(`${'x'.repeat(300)} mail-${i}.\n\n`);
      await spin(near.all);
      took.push(performance.now() - from);
    }
  }
  await new Promise((resolve) => server.close(resolve));
  return quantile(took, 0.5);
}

interface Got {
  readonly status: number;
  readonly etag: string;
  readonly body: string;
  readonly took: number;
}

async function statusJson() {
  const home = localHome(HUNDRED);
  await using tray = await startTray(home);
  await untilArmed(home, HUNDRED);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const took: number[] = [];
  const bare: number[] = [];
  let unchanged = 0;
  let asked304 = 0;
  const first = await get(agent, tray.port, '/status.json');
  using floor = await bareServer(first.body);
  const floorAgent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 1000; i += 1) {
    if (i % 10 === 0) {
      const to = HUNDRED[i % 100] ?? '';
      await post(tray.port, tray.token, '/api/send', { to, from: 'bench', content: `mail ${i}` });
    }
    const got = await get(agent, tray.port, '/status.json');
    if (i >= 100) took.push(got.took);
    if (i % 10 === 9) {
      const again = await get(agent, tray.port, '/status.json', got.etag);
      asked304 += 1;
      if (again.status === 304 && again.body === '') unchanged += 1;
    }
    bare.push((await get(floorAgent, floor.port, '/')).took);
    await sleep(Math.random() * 2);
  }
  agent.destroy();
  floorAgent.destroy();
  const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
  return {
    figure: `${ms(p50)} / ${ms(p99)}; ${unchanged} of ${asked304} were 304; ${(first.body.length / 1024).toFixed(0)} KiB`,
    floor: `${ms(quantile(bare, 0.5))} / ${ms(quantile(bare, 0.99))} the same bytes from node:http`,
    met: p50 <= 1 && p99 <= 10 && unchanged >= asked304 * 0.9, // a look may fall between two requests
  };
}

/** A server that does nothing else, in a process of its own as ours is. */
async function bareServer(body: string): Promise<Disposable & { readonly port: number }> {
  const program = `
    let body = '';
    process.stdin.setEncoding('utf8').on('data', (chunk) => { body += chunk; }).on('end', () => {
      const server = require('node:http').createServer((_request, response) => response.end(body));
      server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)));
    });
  `;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = new Promise<number>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk))));
  child.stdin.end(body);
  return { port: await port, [Symbol.dispose]: () => void child.kill() };
}

function get(agent: Agent, port: number, path: string, etag?: string): Promise<Got> {
  const from = performance.now();
  const headers = etag === undefined ? {} : { 'If-None-Match': etag };
  return new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path, headers }, (response: IncomingMessage) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          etag: response.headers.etag ?? '',
          body,
          took: performance.now() - from,
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}
