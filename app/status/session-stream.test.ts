import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { type RawAnswer, raw, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { createHello, openStream } from '../../test/kit/stream-client.ts';
import { type DaemonKey, hashToken } from './session.ts';

const ADA = { tenant: 'lab', identity: 'ada' };
const OBSERVE = 'a'.repeat(64);
const ACT = 'b'.repeat(64);

const key = (scope: DaemonKey['scope'], token: string, identity = 'ada'): DaemonKey => ({
  ...{ scope, digest: hashToken(token), tenant: 'lab', identity, address: identity },
});

let rig: StatusRig;
let keys: readonly DaemonKey[] = [];
let base: string;
before(async () => {
  rig = await statusRig({ keys: { all: () => keys } });
  base = `http://127.0.0.1:${rig.port}`;
  keys = [key('observe', OBSERVE), key('act', ACT)];
});
after(() => rig[Symbol.asyncDispose]());

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const PROTOCOL = 'Sec-WebSocket-Protocol: signals.v1';

/** An upgrade as bytes. */
function upgrade(headers: readonly string[], target = '/v1/session/stream', version = '1.1'): Promise<RawAnswer> {
  return raw(rig.port, `${[`GET ${target} HTTP/${version}`, ...headers, ...HANDSHAKE].join('\r\n')}\r\n\r\n`);
}

/** What was sent to the server before is heard by then. */
async function heardBy(url: string): Promise<void> {
  for (let i = 0; i < 3; i += 1) await (await fetch(`${url}/healthz`)).text();
}

const own = (): string => `Host: 127.0.0.1:${rig.port}`;
const bearer = (token: string): string => `Authorization: Bearer ${token}`;

describe('the guard stands before the upgrade as before every request', () => {
  for (const [label, headers] of [
    ['a foreign name', () => ['Host: evil.example.com', bearer(OBSERVE), PROTOCOL]],
    ['a name that resolves to us', () => [`Host: 127.0.0.1.nip.io:${rig.port}`, bearer(OBSERVE), PROTOCOL]],
    ['another port', () => [`Host: 127.0.0.1:${rig.port + 1}`, bearer(OBSERVE), PROTOCOL]],
    ['two Hosts', () => [own(), own(), bearer(OBSERVE), PROTOCOL]],
    ['no Host', () => [bearer(OBSERVE), PROTOCOL]],
    ['a foreign Origin', () => [own(), 'Origin: http://evil.example.com', bearer(OBSERVE), PROTOCOL]],
    ['Origin null', () => [own(), 'Origin: null', bearer(OBSERVE), PROTOCOL]],
    ['a page of another site', () => [own(), 'Sec-Fetch-Site: cross-site', bearer(OBSERVE), PROTOCOL]],
    ['a foreign name without a token', () => ['Host: evil.example.com', PROTOCOL]],
  ] as const) {
    test(`${label} is 403, before 401, with nothing upgraded`, async () => {
      const { status, head, body } = await upgrade(headers());
      assert.equal(status, 403);
      assert.deepEqual(Object.keys(JSON.parse(body)), ['error']);
      assert.match(head, /content-security-policy: default-src 'none'/i);
      assert.match(head, /connection: close/i);
      assert.doesNotMatch(head, /access-control|sec-websocket/i);
    });
  }

  test('an absolute target and HTTP/1.0 without a Host are 403; HTTP/1.0 with one is not upgraded', async () => {
    const good = [own(), bearer(OBSERVE), PROTOCOL];
    assert.equal((await upgrade(good, `${base}/v1/session/stream`)).status, 403);
    assert.equal((await upgrade([bearer(OBSERVE), PROTOCOL], '/v1/session/stream', '1.0')).status, 403);
    assert.notEqual((await upgrade(good, '/v1/session/stream', '1.0')).status, 101);
  });

  test('it has to be GET', async () => {
    const lines = ['POST /v1/session/stream HTTP/1.1', own(), bearer(OBSERVE), PROTOCOL, ...HANDSHAKE];
    const type = ['Content-Type: application/json', 'Content-Length: 0'];
    assert.equal((await raw(rig.port, `${[...lines, ...type].join('\r\n')}\r\n\r\n`)).status, 400);
    assert.equal((await raw(rig.port, `${lines.join('\r\n')}\r\n\r\n`)).status, 415);
  });
});

describe('what is upgraded, and for whom', () => {
  test('nothing but the stream: any other path is refused, also one that is ours', async () => {
    for (const path of ['/', '/status.json', '/v1/session', '/v1/session/stream/', '/v1/session/%73tream'])
      assert.equal((await upgrade([own(), bearer(OBSERVE), PROTOCOL], path)).status, 404, path);
  });

  test('a token in the address is none, and with a good one in its header it is refused all the same', async () => {
    for (const name of ['token', 'access_token', 'authorization']) {
      const target = `/v1/session/stream?${name}=${OBSERVE}`;
      assert.equal((await upgrade([own(), PROTOCOL], target)).status, 401);
      assert.equal((await upgrade([own(), bearer(OBSERVE), PROTOCOL], target)).status, 400);
    }
  });

  test('no token and a wrong one are 401; the own token of Hivebar, which is no daemon, is 403', async () => {
    assert.equal((await upgrade([own(), PROTOCOL])).status, 401);
    assert.equal((await upgrade([own(), bearer('c'.repeat(64)), PROTOCOL])).status, 401);
    assert.equal((await upgrade([own(), `Authorization: Basic ${OBSERVE}`, PROTOCOL])).status, 401);
    assert.equal((await upgrade([own(), bearer(TOKEN), PROTOCOL])).status, 403);
  });

  test('only who speaks the subprotocol', async () => {
    assert.equal((await upgrade([own(), bearer(OBSERVE)])).status, 400);
    assert.equal((await upgrade([own(), bearer(OBSERVE), 'Sec-WebSocket-Protocol: signals.v2'])).status, 400);
    const { status, head } = await upgrade([own(), bearer(OBSERVE), 'Sec-WebSocket-Protocol: signals.v2, signals.v1']);
    assert.equal(status, 101);
    assert.match(head, /sec-websocket-protocol: signals\.v1\r?$/im);
    assert.doesNotMatch(head, /permessage-deflate/i);
  });

  test('another protocol that is offered with a request is passed over', async () => {
    const headers = [own(), 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
    const { status } = await raw(rig.port, `${['GET /healthz HTTP/1.1', ...headers].join('\r\n')}\r\n\r\n`);
    assert.equal(status, 200);
  });
});

describe('a stream', () => {
  test('is closed when what comes is no JSON, no text, or a hello of another protocol', async () => {
    for (const [frame, code] of [
      ['{"type":"hello"', 1007],
      [Buffer.from('{}'), 1003],
      [createHello(ADA, { proto: 2 }), 1008],
      [createHello(ADA, { surface: 7 }), 1008],
    ] as const) {
      using stream = openStream(base, { token: OBSERVE });
      stream.send(frame);
      assert.equal(await stream.ended(), code);
    }
  });

  test('passes over frames before a hello, and what is no object', async () => {
    using stream = openStream(base, { token: OBSERVE });
    for (const frame of ['null', '[]', '7', '{}', '{"type":"heartbeat","seq":1}']) stream.send(frame);
    stream.send(createHello(ADA));
    await stream.next('welcome');
  });

  test('welcomes a hello that comes again, as the same', async () => {
    using stream = openStream(base, { token: OBSERVE });
    stream.send(createHello(ADA));
    const first = await stream.next('welcome');
    stream.send(createHello(ADA));
    assert.deepEqual(await stream.next('welcome'), first);
  });

  test('is closed at the next heartbeat when its token was changed, and when its daemon is gone', async () => {
    for (const [now, code] of [
      [[key('observe', 'd'.repeat(64)), key('act', ACT)], 4401],
      [[key('observe', 'e'.repeat(64), 'bo')], 4410],
    ] as const) {
      using stream = openStream(base, { token: OBSERVE });
      stream.send(createHello(ADA));
      await stream.next('welcome');
      const before = keys;
      keys = now;
      stream.send({ type: 'heartbeat', seq: 1, fsm: 'CONNECTED', taxonomy: 'sleeping' });
      assert.equal(await stream.ended(), code);
      keys = before;
    }
  });

  test('that says goodbye is no registration any more, though it stays open', async () => {
    using stream = openStream(base, { token: OBSERVE });
    stream.send(createHello(ADA));
    await stream.next('welcome');
    stream.send({ type: 'bye', reason: 'shutdown' });
    stream.send(createHello(ADA));
    await stream.next('welcome');
    assert.equal(new Set(stream.listFrames('welcome').map(({ registration_id }) => registration_id)).size, 2);
  });

  test('whose reader takes nothing is ended, and keeps nobody from being told', async () => {
    using slow = openStream(base, { token: OBSERVE });
    slow.send(createHello(ADA));
    await slow.next('welcome');
    using quick = openStream(base, { token: ACT });
    quick.send(createHello(ADA, { kind: 'agent' }));
    await quick.next('welcome');
    assert.equal(rig.registrations.connected().length, 2);
    slow.socket.pause();
    // Each hello is answered, and nothing of it is read; what the system itself holds for a reader is a few MiB.
    for (let sent = 0; rig.registrations.connected().length === 2; sent += 1) {
      assert.ok(sent < 1_000_000, 'the slow reader is still there');
      if (slow.socket.readyState === slow.socket.OPEN) slow.send(createHello(ADA));
      if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await rig.hive.send({ to: 'ada', from: 'bo', content: 'hello', urgent: false });
    await quick.next('pending_changed');
  });

  test('that says no hello in time, or answers no ping, is ended; one that answers stays', async () => {
    const clock = fakeClock();
    await using other = await statusRig({ keys: { all: () => keys }, clock });
    const url = `http://127.0.0.1:${other.port}`;
    using silent = openStream(url, { token: OBSERVE });
    await once(silent.socket, 'open');
    using dead = openStream(url, { token: OBSERVE, pongs: false });
    dead.send(createHello(ADA));
    await dead.next('welcome');
    using live = openStream(url, { token: ACT });
    live.send(createHello(ADA, { kind: 'agent' }));
    await live.next('welcome');
    await clock.advance(10_000);
    assert.equal(await silent.ended(), 1008);
    for (let pings = 0; pings < 4; pings += 1) {
      const pinged = once(live.socket, 'ping');
      await clock.advance(15_000);
      await pinged;
      await heardBy(url); // the answer to the ping is there too
    }
    assert.equal(await dead.ended(), 1006);
    assert.equal(live.socket.readyState, live.socket.OPEN);
  });

  test('more than 256 at once is sent away with the time to come again, and the others stay', async () => {
    await using other = await statusRig({ keys: { all: () => keys } });
    const url = `http://127.0.0.1:${other.port}`;
    await using stack = new AsyncDisposableStack();
    const streams = Array.from({ length: 256 }, () => stack.use(openStream(url, { token: ACT })));
    await Promise.all(streams.map(({ socket }) => once(socket, 'open')));
    using more = openStream(url, { token: OBSERVE });
    const [code, reason] = await once(more.socket, 'close');
    assert.deepEqual([code, JSON.parse(String(reason))], [4429, { retry_after_ms: 30_000 }]);
    assert.ok(streams.every(({ socket }) => socket.readyState === socket.OPEN));
  });

  test('does not keep Hivebar from stopping', async () => {
    await using other = await statusRig({ keys: { all: () => keys } });
    using stream = openStream(`http://127.0.0.1:${other.port}`, { token: OBSERVE });
    stream.send(createHello(ADA));
    await stream.next('welcome');
    await other.server[Symbol.asyncDispose]();
    assert.notEqual(await stream.ended(), 0);
  });
});
