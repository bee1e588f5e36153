import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { Fault } from '../../core/model/index.ts';
import { raw, type StatusRig, statusRig, TOKEN } from '../../test/kit/status-rig.ts';
import { StatusWire } from './wire.ts';

const ROUTES = [
  ['GET', '/'],
  ['GET', '/status.json'],
  ['GET', '/healthz'],
  ['GET', '/assets/page.js'],
  ['GET', '/assets/style.css'],
  ['GET', '/api/v1/stream'],
  ['GET', '/api/inbox?persona=ada'],
  ['GET', '/api/personas'],
  ['GET', '/api/notify/pending'],
  ['GET', '/no/such/route'],
  ['GET', '/%ff%zz'],
  ['POST', '/api/send'],
  ['POST', '/api/v1/actions/echo'],
  ['POST', '/api/v1/actions/none'],
] as const;

const SECURITY = [
  /content-security-policy: default-src 'none'/i,
  /x-content-type-options: nosniff/i,
  /frame-ancestors 'none'/i,
  /cross-origin-resource-policy: same-origin/i,
  /referrer-policy: no-referrer/i,
  /cache-control: /i,
];

let rig: StatusRig;
let base: string;
before(async () => {
  rig = await statusRig();
  base = `http://127.0.0.1:${rig.port}`;
  rig.join('ada');
  rig.poll('ada', 2, 1);
  await rig.mail('ada', 1, 2);
});
after(() => rig[Symbol.asyncDispose]());

const bearer = { Authorization: `Bearer ${TOKEN}` };
const post = (path: string, body: unknown, headers: Record<string, string> = bearer): Promise<Response> =>
  fetch(base + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

function request(method: string, path: string, ...headers: string[]): string {
  const type = method === 'POST' ? ['Content-Type: application/json', 'Content-Length: 2'] : [];
  return `${[`${method} ${path} HTTP/1.1`, ...headers, ...type, 'Connection: close'].join('\r\n')}\r\n\r\n${method === 'POST' ? '{}' : ''}`;
}

describe('S12: the guard stands before every route', () => {
  const foreign = (port: number): [string, string[]][] => [
    ['a foreign name', ['Host: evil.example.com']],
    ['a name that begins with ours', [`Host: localhost.evil.com:${port}`]],
    ['a name that resolves to us', [`Host: 127.0.0.1.nip.io:${port}`]],
    ['another port', [`Host: 127.0.0.1:${port + 1}`]],
    ['a trailing dot', [`Host: localhost.:${port}`]],
    ['two Hosts', [`Host: 127.0.0.1:${port}`, `Host: 127.0.0.1:${port}`]],
    ['no Host', []],
    ['a foreign Origin', [`Host: 127.0.0.1:${port}`, 'Origin: http://evil.example.com']],
    ['Origin null', [`Host: 127.0.0.1:${port}`, 'Origin: null']],
    ['a foreign name with the token', ['Host: evil.example.com', `Authorization: Bearer ${TOKEN}`]],
  ];
  for (const [method, path] of ROUTES) {
    test(`${method} ${path} answers 403 to each, before 401 and 404, and shows nothing`, async () => {
      for (const [label, headers] of foreign(rig.port)) {
        const answer = await raw(rig.port, request(method, path, ...headers));
        assert.equal(answer.status, 403, label);
        assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['error'], label);
        assert.doesNotMatch(answer.body, /ada|SECRET/, label);
        assert.doesNotMatch(answer.head, /access-control/i, label);
        for (const header of SECURITY) assert.match(answer.head, header, label);
      }
    });
    test(`${method} ${path} answers 403 to an absolute target and to HTTP/1.0 without Host`, async () => {
      const absolute = await raw(rig.port, request(method, `${base}${path}`, `Host: 127.0.0.1:${rig.port}`));
      assert.equal(absolute.status, 403);
      assert.equal((await raw(rig.port, `${method} ${path} HTTP/1.0\r\n\r\n`)).status, 403);
    });
    test(`${method} ${path} answers its own names with security headers and no CORS`, async () => {
      for (const host of [`127.0.0.1:${rig.port}`, `LOCALHOST:${rig.port}`, `[::1]:${rig.port}`]) {
        const { status, head } = await raw(rig.port, request(method, path, `Host: ${host}`));
        assert.ok([200, 400, 401, 404].includes(status), `${host}: ${status}`);
        assert.doesNotMatch(head, /access-control/i);
        for (const header of SECURITY) assert.match(head, header);
      }
    });
  }
  test('a simple cross-site POST and a preflight are refused, and change nothing', async () => {
    const host = `Host: 127.0.0.1:${rig.port}`;
    const body = '{"to":"ada","from":"x","content":"x"}';
    const plain = `POST /api/send HTTP/1.1\r\n${host}\r\nContent-Type: text/plain\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.equal((await raw(rig.port, plain)).status, 415);
    assert.equal((await raw(rig.port, request('OPTIONS', '/api/send', host))).status, 405);
    assert.deepEqual(rig.hive.personas(), []);
  });
  test('headers of 20 KiB are refused without a body', async () => {
    const answer = await raw(rig.port, request('GET', '/', `Host: 127.0.0.1:${rig.port}`, `X: ${'a'.repeat(20_000)}`));
    assert.equal(answer.status, 431);
    assert.equal(answer.body, '');
  });
});

test('S13: the printed addresses work, as do localhost on both families', async () => {
  assert.equal(rig.server.urls[0], `${base}/`);
  for (const url of rig.server.urls) assert.equal((await fetch(url)).status, 200, url);
});

describe('status.json', () => {
  test('fits its schema, and shows what the board shows', async () => {
    const answer = await fetch(`${base}/status.json`);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    const wire = (await answer.json()) as StatusWire;
    assert.deepEqual([...Value.Errors(StatusWire, wire)], []);
    assert.deepEqual([wire.port, wire.totals.unread, wire.personas[0]?.lastEventId], [rig.port, 2, 'ada:new:2']);
  });
  test('is 304 while nothing happens, and new when freshness alone changed', async () => {
    const etag = (await fetch(`${base}/status.json`)).headers.get('etag') ?? '';
    const again = (tag: string) => fetch(`${base}/status.json`, { headers: { 'If-None-Match': tag } });
    assert.equal((await again(etag)).status, 304);
    assert.equal((await again(`"x", W/${etag}`)).status, 304);
    rig.poll('ada', 2, 1);
    const next = await again(etag);
    assert.equal(next.status, 200);
    assert.notEqual(next.headers.get('etag'), etag);
  });
  test('an answer with a body says when it was written, also after a quiet time', async () => {
    const at = async (): Promise<number> =>
      Date.parse(((await (await fetch(`${base}/status.json`)).json()) as StatusWire).generatedAt);
    const first = await at();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    assert.ok((await at()) - first >= 1000);
  });
});

describe('the token', () => {
  const closed = [
    ['GET', '/api/inbox?persona=ada'],
    ['POST', '/api/send'],
    ['POST', '/api/v1/actions/echo'],
    ['POST', '/api/v1/actions/none'],
  ] as const;
  for (const [method, path] of closed) {
    test(`${method} ${path} without it is 401 with a challenge`, async () => {
      const answer = method === 'GET' ? await fetch(base + path) : await post(path, {}, {});
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'unauthorized');
    });
  }
  test('a wrong one is 401 also where none is needed', async () => {
    for (const value of ['Bearer nope', `Basic ${TOKEN}`, 'Bearer', `Bearer ${TOKEN}x`]) {
      for (const path of ['/status.json', '/api/v1/stream', '/']) {
        assert.equal((await fetch(base + path, { headers: { Authorization: value } })).status, 401, value);
      }
    }
  });
  test('without it no answer anywhere holds a sender or a text', async () => {
    await rig.hive.send({ to: 'ada', from: 'SECRET-SENDER', content: 'SECRET-TEXT', urgent: false });
    for (const [method, path] of ROUTES) {
      const url = path.startsWith('/api/v1/stream') ? `${path}?since=ada:new:1` : path;
      const { head, body } = await raw(rig.port, request(method, url, `Host: 127.0.0.1:${rig.port}`));
      assert.doesNotMatch(head + body, /SECRET/, path);
    }
  });
  test('names and counts are open', async () => {
    for (const path of ['/status.json', '/api/personas', '/api/notify/pending', '/healthz']) {
      assert.equal((await fetch(base + path)).status, 200);
    }
  });
});

describe('the local hive speaks the Kijito contract', () => {
  test('send, look, and read', async () => {
    const sent = await post('/api/send', { to: 'kai', from: 'bo', content: 'hello', urgent: true });
    const { result } = (await sent.json()) as { result: { id: number; to: string } };
    assert.deepEqual([sent.status, result.to], [200, 'kai']);
    const inbox = async (query: string) =>
      (await fetch(`${base}/api/inbox?persona=kai&${query}`, { headers: bearer })).json();
    const peek = (await inbox('mark_read=false')) as { result: object[]; next_before_id: unknown };
    assert.deepEqual(Object.keys(peek.result[0] ?? {}), ['id', 'from', 'content', 'created', 'read']);
    assert.equal(peek.next_before_id, null);
    const pending = async () =>
      ((await (await fetch(`${base}/api/notify/pending`)).json()) as { result: object[] }).result;
    const kai = { persona: 'kai', unread: 1, unread_urgent: 1 };
    assert.deepEqual(
      (await pending()).filter((row) => 'persona' in row && row.persona === 'kai'),
      [kai],
    );
    await inbox('');
    assert.ok(
      !(await pending()).some((row) => 'persona' in row && row.persona === 'kai'),
      'read by default, and absent means none',
    );
    const { result: personas } = (await (await fetch(`${base}/api/personas`)).json()) as {
      result: { persona: string }[];
    };
    assert.ok(personas.some(({ persona }) => persona === 'kai'));
  });
  test('C7 given a type, a priority, a life or a key, it holds as on the command line, or is refused by its name', async () => {
    const mail = { to: 'vi', from: 'ci', content: 'red' };
    const send = async (more: object) => {
      const answer = await post('/api/send', { ...mail, ...more });
      return [answer.status, await answer.json()] as [number, { result: object; error: { message: string } }];
    };
    const full = { type: 'alert', priority: 0, ttl: '10m', dedup_key: 'run-1', session: 's1' };
    const [status, { result }] = await send(full);
    assert.deepEqual([status, { ...result, id: 0 }], [200, { id: 0, to: 'vi', new: true }]);
    assert.deepEqual((await send(full))[1].result, { ...result, new: false });
    const [item] = rig.hive.items.list('vi', 'pending', 9);
    const { type, priority, dedupKey, session, source, created, expires } = item ?? assert.fail('no item');
    assert.deepEqual([type, priority, dedupKey, session, source], ['alert', 0, 'run-1', 's1', 'ci']);
    assert.equal((expires ?? 0) - created, 600_000);
    for (const [wrong, words] of [
      [{ type: 'shout' }, /"type" shout: must be one of decision,/],
      [{ priority: 7 }, /"priority" 7: must be a number from 0/],
      [{ ttl: 'soon' }, /"ttl" soon: must be a duration/],
      [{ dedup_key: 5 }, /"dedup_key" must be text, not 5/],
      [{ dedup_key: 'hivebar:decision:1' }, /must not begin with hivebar:/],
      [{ priority: 3, urgent: true }, /"urgent" means priority 0 or 1/],
      [{ origin: 'hivebar' }, /"origin" cannot be sent/],
    ] as const) {
      const [code, { error }] = await send(wrong);
      assert.equal(code, 400, JSON.stringify(wrong));
      assert.match(error.message, words);
    }
    assert.equal(rig.hive.items.list('vi', 'all', 9).length, 1);
  });

  test('before_id=0 is a cursor, a malformed one is 400, an unknown persona is an empty list that creates nothing', async () => {
    const ask = (query: string) => fetch(`${base}/api/inbox?mark_read=false&${query}`, { headers: bearer });
    assert.deepEqual(((await (await ask('persona=kai&before_id=0')).json()) as { result: [] }).result, []);
    for (const bad of [
      'persona=kai&before_id=x',
      'persona=kai&before_id=-1',
      'persona=',
      'persona=a&persona=b',
      'persona=a&limit=0',
    ]) {
      const answer = await ask(bad);
      assert.equal(answer.status, 400, bad);
      assert.ok(((await answer.json()) as { error: { message: string; next: string } }).error.next.length > 0);
    }
    assert.deepEqual(((await (await ask('persona=nobody')).json()) as { result: [] }).result, []);
    assert.ok(!rig.hive.personas().some(({ name }) => name === 'nobody'));
  });
  test('a long-poll is answered when mail comes, and after its time without', async () => {
    const ask = async (query: string) =>
      (await (await fetch(`${base}/api/notify/pending?${query}`)).json()) as {
        result: { persona: string }[];
        cursor: string;
      };
    const { cursor } = await ask('wait=30');
    const started = performance.now();
    const held = ask(`wait=30&cursor=${cursor}`);
    setTimeout(() => void post('/api/send', { to: 'lu', from: 'bo', content: 'x' }), 50);
    const answer = await held;
    assert.ok(answer.result.some(({ persona }) => persona === 'lu'));
    assert.notEqual(answer.cursor, cursor);
    assert.ok(performance.now() - started < 5000);
    assert.equal((await ask(`wait=0.05&cursor=${answer.cursor}`)).cursor, answer.cursor);
    assert.equal((await fetch(`${base}/api/notify/pending?wait=soon`)).status, 400);
  });
  test('a body that does not fit is 400, one that is too large 413, and neither is stored', async () => {
    const before = rig.hive.personas().length;
    for (const body of [
      {},
      { to: 'z', from: 'y' },
      { to: 'z', from: 'y', content: 1 },
      [],
      'text',
      { to: 'z', from: 'y', content: 'c', urgent: 'yes' },
    ]) {
      assert.equal((await post('/api/send', body)).status, 400, JSON.stringify(body));
    }
    assert.equal(
      (
        await fetch(`${base}/api/send`, {
          method: 'POST',
          headers: { ...bearer, 'Content-Type': 'application/json' },
          body: '{"to":',
        })
      ).status,
      400,
    );
    assert.equal((await post('/api/send', { to: 'z', from: 'y', content: 'x'.repeat(3_000_000) })).status, 413);
    assert.equal(
      (
        await fetch(`${base}/api/send`, {
          method: 'POST',
          headers: { ...bearer, 'Content-Type': 'application/json' },
          body: '{"to":"z","__proto__":{}}',
        })
      ).status,
      400,
    );
    assert.equal(rig.hive.personas().length, before);
  });
});

describe('actions', () => {
  test('take their params as the body, an empty one as {}', async () => {
    assert.deepEqual(await (await post('/api/v1/actions/echo', { persona: 'zoë' })).json(), {
      result: { params: { persona: 'zoë' } },
    });
    const empty = await fetch(`${base}/api/v1/actions/echo`, {
      method: 'POST',
      headers: { ...bearer, 'Content-Type': 'application/json' },
    });
    assert.deepEqual(await empty.json(), { result: { params: {} } });
  });
  test('an unknown one is 404 with the names there are, params that do not fit 400 with the reason', async () => {
    const unknown = await post('/api/v1/actions/pol', {});
    assert.equal(unknown.status, 404);
    assert.match(((await unknown.json()) as { error: { next: string } }).error.next, /echo, wait, picky/);
    const picky = await post('/api/v1/actions/picky', {});
    assert.equal(picky.status, 400);
    assert.match(((await picky.json()) as { error: { message: string } }).error.message, /"zo" is not watched/);
  });
});

describe('the owner-only socket', () => {
  test('is 0600, asks for no token and serves the same', async () => {
    assert.equal(statSync(rig.socketPath).mode & 0o777, 0o600);
    const body = '{"to":"mo","from":"bo","content":"x"}';
    const send = `POST /api/send HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.equal((await raw(rig.socketPath, send)).status, 200);
    const status = await raw(rig.socketPath, 'GET /status.json HTTP/1.0\r\nHost: localhost\r\n\r\n');
    assert.match(status.head, /content-length: \d+/i);
    assert.equal(JSON.parse(status.body).port, rig.port);
    assert.equal((await raw(rig.socketPath, 'GET / HTTP/1.0\r\nHost: evil.com\r\n\r\n')).status, 403);
  });
  test('replaces one that nobody listens on, refuses one that answers, a file, and a directory open to others', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'hb-sock-'));
    const path = join(dir, 's');
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(join(dir, 'old'), resolve));
    const { renameSync } = await import('node:fs');
    renameSync(join(dir, 'old'), path); // closing then unlinks nothing: the file stays as a crash leaves it
    await new Promise((resolve) => dead.close(resolve));
    assert.ok(existsSync(path));
    {
      await using second = await statusRig({ socketPath: path });
      assert.equal((await raw(path, 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n')).status, 200);
      assert.ok(second.port > 0);
      await assert.rejects(
        statusRig({ socketPath: path }),
        (error) => error instanceof Fault && error.code === 'port-taken',
      );
      assert.equal(
        (await raw(path, 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n')).status,
        200,
        'the first is untouched',
      );
    }
    assert.ok(!existsSync(path));
    writeFileSync(path, 'mine');
    {
      await using _ = await statusRig({ socketPath: path });
      assert.equal((await raw(path, 'GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n')).status, 200, 'moved aside');
    }
    const open = join(dir, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    await assert.rejects(statusRig({ socketPath: join(open, 's') }), /755.*others/);
    await assert.rejects(statusRig({ socketPath: join(dir, 'x'.repeat(120)) }), /longer than/);
    rmSync(dir, { recursive: true });
  });
});

test('a port that another program has is a Fault that names it', async () => {
  await assert.rejects(
    statusRig({ port: rig.port, socketPath: null }),
    (error) => error instanceof Fault && error.code === 'port-taken' && error.message.includes(String(rig.port)),
  );
});

test('healthz tells who answers', async () => {
  assert.deepEqual(await (await fetch(`${base}/healthz`)).json(), {
    ok: true,
    name: 'hivebar',
    version: '0.0.0-test',
    id: 'cafe',
    pid: process.pid,
  });
});

test('what is not served is 404 with the next step; HEAD has no body', async () => {
  const answer = await fetch(`${base}/etc/passwd`);
  assert.equal(answer.status, 404);
  assert.ok(((await answer.json()) as { error: { next: string } }).error.next.length > 0);
  assert.equal((await fetch(`${base}/assets/..%2findex.html`)).status, 404);
  assert.equal((await (await fetch(`${base}/status.json`, { method: 'HEAD' })).text()).length, 0);
});

test('a stop waits for no open stream, hold, action or idle connection', async () => {
  const other = await statusRig();
  const host = `Host: 127.0.0.1:${other.port}\r\n`;
  const { cursor } = (await (await fetch(`http://127.0.0.1:${other.port}/api/notify/pending`)).json()) as {
    cursor: string;
  };
  const sockets = [
    `GET /api/v1/stream HTTP/1.1\r\n${host}\r\n`,
    `GET /api/notify/pending?wait=60&cursor=${cursor} HTTP/1.1\r\n${host}\r\n`,
    `POST /api/v1/actions/wait HTTP/1.1\r\n${host}Authorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /api/send HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{`,
    '',
  ].map((bytes) => {
    const socket = connect(other.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    return new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const started = performance.now();
  await other.server[Symbol.asyncDispose]();
  const took = performance.now() - started;
  const [, hold] = await Promise.all(sockets);
  assert.match(hold ?? '', /^HTTP\/1\.1 200[\s\S]*"cursor"/, 'a hold is answered with what is known, not cut');
  assert.ok(took < 1000, `${took} ms`); // how long it is says the bench; what it must not wait for takes seconds
  assert.ok(!existsSync(other.socketPath));
  await other[Symbol.asyncDispose]();
});

test('a client that leaves ends what was done for it', async () => {
  const left = Promise.withResolvers<void>();
  const run = (_: unknown, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(left.resolve())));
  await using other = await statusRig({
    actions: new Map([['wait', { title: 'Waits', params: {}, asks: 'token', run }]]),
  });
  const socket = connect(other.port, '127.0.0.1');
  const headers = `Host: 127.0.0.1:${other.port}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json`;
  socket.write(`POST /api/v1/actions/wait HTTP/1.1\r\n${headers}\r\nContent-Length: 2\r\n\r\n{}`);
  setTimeout(() => socket.destroy(), 50);
  await left.promise;
});
