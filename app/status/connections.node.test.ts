import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { until } from '../../test/kit/until.ts';
import { createFrontServer, type GuardedHandler } from './front-server.node.ts';

const PATIENCE = { headers: 200, request: 400, idle: 200, drain: 300, check: 50 };
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x');

let held = 0;

/** What is behind the guard here: `/hold` is never answered, `/large` is, with more than a connection takes unread. */
const BEHIND: GuardedHandler = {
  handle: ({ url, headers }, response, { trust }) => {
    if (headers.authorization !== undefined) trust();
    if (url === '/hold') held += 1;
    else response.end(url === '/large' ? LARGE : 'ok');
  },
  upgrade: ({ headers }, socket) => {
    if (headers.authorization === undefined) throw new Error('nothing is upgraded without a token');
    socket.on('data', (bytes: Buffer) => socket.write(bytes));
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  },
};

async function listening(t: { after(end: () => void): void }, patience = PATIENCE) {
  const server: Server = createFrontServer(() => ({ is: 'loopback', port }), BEHIND, patience);
  const sockets: Socket[] = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return {
    /** A client that never closes its side by itself. */
    open(bytes: string): Socket {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      sockets.push(socket);
      socket.on('error', () => {}); // it may be cut
      if (bytes !== '') socket.write(bytes.replace('HOST', `Host: 127.0.0.1:${port}`));
      return socket;
    },
    ask: (headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${port}/`, { headers }),
    count: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
  };
}

for (const [label, bytes] of [
  ['says nothing', ''],
  ['never ends its headers', 'GET / HTTP/1.1\r\nX-a: '],
  ['sends no HTTP', 'nonsense\r\n\r\n'],
  ['never sends its body', 'POST / HTTP/1.1\r\nHOST\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'],
  ['is refused an upgrade', 'GET / HTTP/1.1\r\nHOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['is refused by the guard', 'GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n'],
  ['reads nothing of a large answer', 'GET /large HTTP/1.1\r\nHOST\r\n\r\n'],
  ['asks for nothing more', 'GET / HTTP/1.1\r\nHOST\r\n\r\n'],
] as const) {
  test(`B2 a connection that ${label} is gone after its time, though its client never closes its side`, async (t) => {
    const server = await listening(t);
    const socket = server.open(bytes);
    if (!bytes.includes('/large')) socket.resume();
    else socket.pause();
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    let count = 1;
    await until('the end of the connection', () => {
      void server.count().then((now) => {
        count = now;
      });
      return count === 0;
    });
  });
}

test('B2 a connection that was upgraded lives on past the time of requests', async (t) => {
  const server = await listening(t);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer x';
  const socket = server.open(`GET / HTTP/1.1\r\nHOST\r\n${upgrade}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  const silent = server.open('').resume();
  await new Promise<void>((resolve) => silent.once('close', () => resolve()).once('end', () => resolve()));
  for (let n = 0; n < 20; n += 1) {
    socket.write('x');
    await new Promise<void>((resolve, reject) => {
      socket.once('data', () => resolve()).once('end', () => reject(new Error('ended')));
    });
    await sleep(PATIENCE.check);
  }
});

test('B2 given as many connections as are kept, a new one is answered: the oldest that asks nothing gives way, a token holder never does', async (t) => {
  const server = await listening(t, { headers: 60_000, request: 60_000, idle: 60_000, drain: 60_000, check: 50 });
  const closed: string[] = [];
  const opened = async (name: string, bytes: string): Promise<void> => {
    const socket = server.open(bytes).resume();
    socket.once('end', () => closed.push(name));
    socket.once('error', () => closed.push(name));
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  };
  await opened('token', 'GET /hold HTTP/1.1\r\nHOST\r\nAuthorization: Bearer x\r\n\r\n');
  await opened('oldest', 'GET /hold HTTP/1.1\r\nHOST\r\n\r\n');
  await opened('second', 'GET /hold HTTP/1.1\r\nHOST\r\n\r\n');
  for (let i = 0; i < 1533; i += 1) await opened('busy', 'GET /hold HTTP/1.1\r\nHOST\r\n\r\n');
  await opened('silent', '');
  assert.equal(await server.count(), 1537);
  await sleep(2100); // what has just come may still ask
  for (const gone of ['silent', 'silent,oldest', 'silent,oldest,second']) {
    assert.equal(await (await server.ask({ connection: 'close' })).text(), 'ok');
    await until(
      () => `${gone}, only ${closed.join()}`,
      () => closed.join() === gone,
    );
    const before = held;
    await opened('late', 'GET /hold HTTP/1.1\r\nHOST\r\n\r\n');
    await until('its request', () => held > before);
  }
});

test('B2 given 1,600 silent connections, page, JSON, token and owner-only socket work', async () => {
  await using rig = await statusRig();
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < 1600; i += 1) {
      const socket = connect(rig.port, '127.0.0.1').on('error', () => {}); // it may be cut
      sockets.push(socket);
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    }
    const base = `http://127.0.0.1:${rig.port}`;
    assert.equal((await fetch(`${base}/`)).status, 200);
    assert.equal((await fetch(`${base}/status.json`)).status, 200);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    assert.equal((await fetch(`${base}/api/inbox?persona=ada`, { headers })).status, 200);
    const socket = connect(rig.socketPath);
    socket.write('GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n');
    const head = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
    assert.match(head, /^HTTP\/1\.1 200/);
    socket.destroy();
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
