import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createFrontServer } from '../../app/status/front-server.node.ts';
import { type RawAnswer, raw, type StatusRig, statusRig, TOKEN } from '../kit/status-rig.ts';

/**
 * The rules of loopback HTTP over every route of the server. The routes are asked from the server itself, so that one which
 * is added tomorrow is under the same rules without anybody thinking of it.
 */

let rig: StatusRig;
before(async () => {
  rig = await statusRig();
  rig.join('zoe');
  rig.poll('zoe', 2, 1);
  await rig.mail('zoe', 1);
  await rig.hive.send({ to: 'zoe', from: 'SECRET-SENDER', content: 'SECRET-TEXT', urgent: false });
});
after(() => rig[Symbol.asyncDispose]());

interface Case {
  readonly what: string;
  /** Lines of the request's head behind its first one; `{port}` is ours. */
  readonly headers: readonly string[];
  readonly status: readonly number[];
}

const OWN = 'Host: 127.0.0.1:{port}';
const REFUSED = [403, 421] as const;
const REBOUND =
  'evil.example.com localhost.evil.com:{port} 127.0.0.1.nip.io:{port} 127.0.0.1.nip.io evil.com:{port} localhost.:{port} localhost:1 127.0.0.1:{port}0 127.0.0.1 localhost 127.1:{port} 2130706433:{port} 0x7f000001:{port} 0177.0.0.1:{port} 0.0.0.0:{port} [::]:{port} [::ffff:127.0.0.1]:{port} [0:0:0:0:0:0:0:1]:{port} ::1:{port} user@127.0.0.1:{port} 127.0.0.1:{port}@evil.com 127.0.0.1:{port},evil.com 127.0.0.1:{port}/ ①②⑦.0.0.1:{port}';

/** What a page of another site can make a browser send, and what only a broken or hostile client sends. */
const CASES: readonly Case[] = [
  ...REBOUND.split(' ').map((name) => ({ what: `Host ${name}`, headers: [`Host: ${name}`], status: REFUSED })),
  { what: 'an empty Host', headers: ['Host:'], status: REFUSED },
  { what: 'no Host', headers: [], status: REFUSED },
  { what: 'two Hosts, both ours', headers: [OWN, OWN], status: REFUSED },
  { what: 'two Hosts, ours first', headers: [OWN, 'Host: evil.example.com'], status: REFUSED },
  { what: 'two Hosts, ours last', headers: ['Host: evil.example.com', OWN], status: REFUSED },
  ...[
    'http://evil.example.com',
    'null',
    'http://localhost:{port}',
    'https://127.0.0.1:{port}',
    'http://127.0.0.1',
    'http://127.0.0.1:1',
    'http://127.0.0.1:{port}.evil.com',
    'http://127.0.0.1:{port}, http://evil.com',
    'file://',
    '',
  ].map((origin) => ({ what: `Origin ${origin}`, headers: [OWN, `Origin: ${origin}`], status: REFUSED })),
  {
    what: 'our Origin and another',
    headers: [OWN, 'Origin: http://127.0.0.1:{port}', 'Origin: http://evil.example.com'],
    status: REFUSED,
  },
  ...['cross-site', 'same-site', 'same-origin, cross-site', 'nonsense'].map((site) => ({
    what: `Sec-Fetch-Site ${site}, as of an image, a script or a fetch`,
    headers: [OWN, `Sec-Fetch-Site: ${site}`, 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'],
    status: REFUSED,
  })),
  {
    what: 'a frame of another site',
    headers: [OWN, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'],
    status: REFUSED,
  },
];

/** Requests that the routes would serve, with the token. */
const BODIES: Readonly<Record<string, string>> = {
  'POST /api/send': '{"to":"zoe","from":"x","content":"written by another site"}',
  'POST /api/v1/token': '{"code":"none"}',
};
const PATHS: Readonly<Record<string, string>> = {
  '/api/inbox': '/api/inbox?persona=zoe',
  '/api/v1/events': '/api/v1/events?since=zoe:new:1&wait=30',
};

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

function routes(): readonly Route[] {
  const own = rig.server.routes.map((name) => {
    const [method = '', path = ''] = name.split(' ');
    const real = path.replace(':id', 'zoe').replace(':name', 'echo');
    return { name, method, path: PATHS[path] ?? real, body: BODIES[name] ?? '{}' };
  });
  const none = { body: '{}', name: 'a route that is not there' };
  return [...own, { ...none, method: 'GET', path: '/no/such/route' }, { ...none, method: 'GET', path: '/%ff%zz//..' }];
}

function bytes({ method, body }: Route, target: string, headers: readonly string[], version = '1.1'): string {
  const port = String(rig.port);
  const post = method === 'POST';
  const typed = headers.some((line) => /^content-type:/i.test(line));
  const lines = [
    `${method} ${target.replaceAll('{port}', port)} HTTP/${version}`,
    ...headers.map((line) => line.replaceAll('{port}', port)),
    ...(post && !typed ? ['Content-Type: application/json'] : []),
    ...(post ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${post ? body : ''}`;
}

/** Refused before anything was looked up: whoever asks, whatever is there. */
function assertClosed(answer: RawAnswer, status: readonly number[], label: string): void {
  assert.ok(status.includes(answer.status), `${label}: ${answer.status}`);
  assert.doesNotMatch(answer.head + answer.body, /zoe\b|SECRET|0\.0\.0-test|cafe|unread/, label);
  assert.doesNotMatch(answer.head, /access-control-|www-authenticate|etag|set-cookie/i, label);
  assert.match(answer.head, /content-security-policy: default-src 'none'/i, label);
  assert.match(answer.head, /x-content-type-options: nosniff/i, label);
  assert.match(answer.head, /cross-origin-resource-policy: same-origin/i, label);
  assert.match(answer.head, /cache-control: no-store/i, label);
  if (answer.body !== '') assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['error'], label);
}

/** What a request could have changed: mail, what was read of it, the board, and links. */
function state(): string {
  const { result } = rig.hive.inbox({
    persona: 'zoe',
    markRead: false,
    beforeId: null,
    limit: 99,
    unreadOnly: false,
  }) as {
    result: readonly object[];
  };
  return JSON.stringify([rig.hive.personas(), result, rig.board.snapshot(), rig.outbox.newest()]);
}

const withToken = `Authorization: Bearer ${TOKEN}`;
const TOKENS: readonly (readonly [readonly string[], string])[] = [
  [[], 'no token'],
  [[withToken], 'the token'],
  [['Authorization: Bearer wrong'], 'a wrong token'],
];

describe('S12: every route of the server', () => {
  test('is asked: there are those everybody knows of', () => {
    const names = new Set(rig.server.routes);
    for (const name of 'GET /,GET /status.json,GET /healthz,GET /readyz,GET /metrics,GET /openapi.json,GET /api/v1/stream,GET /api/v1/events,POST /api/send,POST /api/v1/token,POST /api/v1/actions/:name'.split(
      ',',
    ))
      assert.ok(names.has(name), name);
  });

  test('refuses each foreign Host, Origin and site with 403 or 421, before any 401, and shows and changes nothing', async () => {
    const before = state();
    for (const [n, { what, headers, status }] of CASES.entries()) {
      await Promise.all(
        routes().map(async (route, m) => {
          const [token = [], whose = ''] = TOKENS[(n + m) % TOKENS.length] ?? []; // each route meets each, and so does each case
          const answer = await raw(rig.port, bytes(route, route.path, [...headers, ...token]), 5000);
          assertClosed(answer, status, `${route.name}: ${what}, ${whose}`);
        }),
      );
    }
    assert.equal(state(), before);
  });

  test('refuses targets that are no path: absolute, of a proxy, or of all', async () => {
    const before = state();
    for (const route of routes()) {
      for (const target of [
        `http://127.0.0.1:{port}${route.path}`,
        `http://evil.example.com${route.path}`,
        `https://127.0.0.1:{port}${route.path}`,
        '*',
        'zoe',
      ]) {
        const answer = await raw(rig.port, bytes(route, target, [OWN, withToken]), 5000);
        if (answer.status === 400 && answer.body === '') continue; // no request at all to the parser
        const sent = target.replaceAll('{port}', String(rig.port)); // is named in the refusal, and is the sender's own
        assertClosed({ ...answer, body: answer.body.replace(sent, '') }, REFUSED, `${route.name}: ${target}`);
      }
    }
    assert.equal(state(), before);
  });

  test('refuses HTTP/1.0 without Host, and serves it with ours', async () => {
    for (const route of routes()) {
      assertClosed(await raw(rig.port, bytes(route, route.path, [], '1.0'), 5000), REFUSED, route.name);
      assertClosed(await raw(rig.port, bytes(route, route.path, [withToken], '1.0'), 5000), REFUSED, route.name);
    }
    const page = await raw(rig.port, `GET / HTTP/1.0\r\nHost: 127.0.0.1:${rig.port}\r\n\r\n`, 5000);
    assert.equal(page.status, 200);
  });

  test('takes no POST that a page can send without asking first: 415 for every type that is not JSON', async () => {
    const before = state();
    for (const route of routes().filter(({ method }) => method === 'POST')) {
      for (const type of [
        'text/plain',
        'text/plain; application/json',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/json-seq',
        'application/jsonp',
        '',
        'application/json, text/plain',
      ]) {
        const answer = await raw(rig.port, bytes(route, route.path, [OWN, `Content-Type: ${type}`, withToken]), 5000);
        assertClosed(answer, [415], `${route.name}: ${type}`);
      }
      const two = [OWN, 'Content-Type: application/json', 'Content-Type: text/plain', withToken];
      assertClosed(await raw(rig.port, bytes(route, route.path, two), 5000), [415], `${route.name}: two types`);
      const none = `POST ${route.path} HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\n${withToken}\r\nConnection: close\r\n\r\n`;
      assertClosed(await raw(rig.port, none, 5000), [415], `${route.name}: no type`);
    }
    assert.equal(state(), before);
  });

  test('answers methods it does not serve with 405, preflights among them, and never a CORS header', async () => {
    const before = state();
    for (const route of routes()) {
      for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']) {
        const preflight = ['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: content-type'];
        const answer = await raw(
          rig.port,
          bytes({ ...route, method }, route.path, [OWN, ...preflight, withToken]),
          5000,
        );
        assertClosed(answer, [405], `${method} ${route.path}`);
        assert.match(answer.head, /allow: GET, HEAD, POST/i);
      }
      const unknown = await raw(rig.port, bytes({ ...route, method: 'STEAL' }, route.path, [OWN]), 5000);
      assert.deepEqual([unknown.status, unknown.body], [400, ''], 'no method at all');
      const tunnel = await raw(rig.port, bytes({ ...route, method: 'CONNECT' }, '127.0.0.1:{port}', [OWN]), 5000);
      assert.equal(tunnel.body, '');
    }
    assert.equal(state(), before);
  });

  test('refuses oversized headers and targets, and anything smuggled', async () => {
    const before = state();
    for (const route of routes()) {
      const large = await raw(
        rig.port,
        bytes(route, route.path, [OWN, `X-Large: ${'a'.repeat(20_000)}`, withToken]),
        5000,
      );
      assert.deepEqual([large.status, large.body], [431, ''], route.name);
      const many = Array.from({ length: 1000 }, (_, i) => `X-${i}: ${'b'.repeat(20)}`);
      assert.equal((await raw(rig.port, bytes(route, route.path, [OWN, ...many]), 5000)).status, 431, route.name);
      const long = await raw(rig.port, bytes(route, `${route.path}?${'c'.repeat(20_000)}`, [OWN]), 5000);
      assert.equal(long.status, 431, route.name);
      const both = [
        OWN,
        withToken,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        'Content-Length: 4',
      ];
      const smuggled = `POST ${route.path} HTTP/1.1\r\n${both.join('\r\n').replace('{port}', String(rig.port))}\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`;
      assert.equal((await raw(rig.port, smuggled, 5000)).status, 400, route.name);
    }
    assert.equal(state(), before);
  });

  test('answers our own names, in any case, without a CORS header', async () => {
    for (const route of routes()) {
      const held = route.path.includes('stream');
      for (const host of ['127.0.0.1:{port}', 'LocalHost:{port}', '[::1]:{port}']) {
        const answer = await raw(
          rig.port,
          bytes(route, route.path.replace('wait=30', 'wait=0'), [`Host: ${host}`]),
          held ? 150 : 5000,
        );
        assert.ok([200, 400, 401, 403, 404].includes(answer.status), `${route.name} ${host}: ${answer.status}`);
        if (answer.status === 403) assert.match(answer.body, /bad-code/, route.name);
        assert.doesNotMatch(answer.head, /access-control-/i);
        assert.match(answer.head, /x-content-type-options: nosniff/i);
        assert.match(answer.head, /content-security-policy: [^\n]*frame-ancestors 'none'/i);
        assert.doesNotMatch(answer.head + answer.body, /SECRET/, route.name);
      }
    }
  });
});

describe('slow clients', () => {
  const lines: Socket[] = [];
  after(() => {
    for (const socket of lines) socket.destroy();
  });

  test('hold up nobody: with 300 that send a byte now and then, an answer still comes at once', async () => {
    for (let i = 0; i < 300; i += 1) {
      const socket = connect(rig.port, '127.0.0.1');
      socket.on('error', () => {}); // they are cut in the end
      socket.write('GET / HTTP/1.1\r\nX-a:');
      lines.push(socket);
    }
    const drip = setInterval(() => {
      for (const socket of lines) socket.write('a');
    }, 200);
    try {
      const took: number[] = [];
      for (let i = 0; i < 20; i += 1) {
        const from = performance.now();
        assert.equal((await fetch(`http://127.0.0.1:${rig.port}/status.json`)).status, 200);
        took.push(performance.now() - from);
      }
      assert.ok(Math.max(...took) < 5000, `${Math.max(...took)} ms`); // their time is over after 10 s
    } finally {
      clearInterval(drip);
    }
  });

  test('are cut with 408 when their time is over, whatever they dribble; others are served', {
    timeout: 20_000,
  }, async () => {
    const patience = { headers: 200, request: 400, idle: 200, drain: 400, check: 50 };
    const server = createFrontServer(
      () => ({ is: 'loopback', port }),
      {
        handle: (request, response) => void request.resume().on('end', () => response.end('ok')),
        upgrade: (_request, socket) => void socket.destroy(),
      },
      patience,
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const slow = (beginning: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => {}); // a byte written after the cut
      socket.write(beginning);
      const drip = setInterval(() => socket.write('a'), 20);
      return new Promise((resolve) => {
        socket.once('close', () => {
          clearInterval(drip);
          resolve(text);
        });
      });
    };
    const host = `Host: 127.0.0.1:${port}`;
    const from = performance.now();
    const [headers, body, nothing, good] = await Promise.all([
      slow('GET / HTTP/1.1\r\nX-a:'),
      slow(`POST / HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`),
      slow(''),
      raw(port, `GET / HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`, 5000),
    ]);
    assert.ok(performance.now() - from < 3000);
    assert.match(headers, /^HTTP\/1\.1 408 /);
    assert.match(headers, /X-Content-Type-Options: nosniff/);
    assert.match(body, /^HTTP\/1\.1 408 /);
    assert.doesNotMatch(nothing, /200/);
    assert.equal(good.body.includes('ok'), true);
    await new Promise((resolve) => server.close(resolve));
  });
});

test('the list above can fail: a server without a guard breaks it', async () => {
  const server = createServer((_request, response) => response.end('{"personas":["zoe"]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const answer = await raw(port, 'GET / HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n', 5000);
  assert.throws(() => assertClosed(answer, REFUSED, 'no guard'), /no guard: 200/);
  await new Promise((resolve) => server.close(resolve));
});
