import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fakeHive, type HiveFault } from '../../test/kit/fake-hive.ts';
import { Fault, type FaultCode } from '../model/index.ts';
import { AS_WRITTEN, createHttpClient, createPublicPolicy, type HttpClient, type HttpOptions } from './index.ts';

const PATH = '/api/inbox?persona=ada&mark_read=false';
const never = new AbortController().signal;

function createClient(url: string, more: Partial<HttpOptions> = {}): HttpClient {
  return createHttpClient({
    url,
    policy: AS_WRITTEN,
    scope: { is: 'source', key: url },
    userAgent: 'hivebar/0.0.0-test',
    credential: null,
    ...more,
  });
}

/** What one GET came to. */
async function outcome(client: HttpClient, path = PATH): Promise<{ code: FaultCode | 'answered'; message: string }> {
  try {
    await client.get(path, never);
    return { code: 'answered', message: '' };
  } catch (error) {
    assert.ok(error instanceof Fault, `not a Fault: ${error}`);
    return { code: error.code, message: error.message };
  }
}

test('a healthy answer comes whole, asked for by name and without compression', async () => {
  await using hive = await fakeHive({ personas: ['ada'], namedAgentsOnly: true });
  hive.deliver('ada', { content: 'hällo' });
  await using client = createClient(hive.url);
  const answer = await client.get(PATH, never);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.match(answer.body.toString('utf8'), /hällo/);
  const [request] = hive.requests;
  assert.equal(request?.url, PATH);
  assert.equal(request?.headers['user-agent'], 'hivebar/0.0.0-test');
  assert.equal(request?.headers['accept-encoding'], 'identity');
  assert.equal(request?.headers.authorization, undefined);
});

test('F10 given a deadline longer than Node can wait, an answer is waited for and not cut after a millisecond', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url, { deadlineMs: 3_000_000_000 });
  hive.fail({ is: 'slow', ms: 100 });
  assert.equal((await outcome(client)).code, 'answered');
});

test('the credential goes with every request', async () => {
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
  await using client = createClient(hive.url, { credential: { name: 'authorization', value: 'Bearer s3cret' } });
  assert.equal((await outcome(client)).code, 'answered');
  await using stranger = createClient(hive.url);
  assert.equal((await outcome(stranger)).code, 'unauthorized');
});

const BROKEN: readonly (readonly [name: string, fault: HiveFault, code: FaultCode, says: RegExp])[] = [
  ['D1: a body cut in the middle', { is: 'truncated' }, 'broken', /broke off/],
  ['D1: a garbage status line', { is: 'garbage' }, 'broken', /not HTTP/],
  ['D1: a bad chunk', { is: 'bad-chunk' }, 'broken', /not HTTP/],
  ['D1: a reset', { is: 'reset' }, 'broken', /broke off/],
  ['500', { is: 'status', status: 500 }, 'status', /answered 500/],
  ['403', { is: 'status', status: 403 }, 'unauthorized', /answered 403 \(forbidden\) to a request without a token/],
  ['D19: 204', { is: 'status', status: 204 }, 'status', /204, which has no content/],
  ['D19: 304', { is: 'status', status: 304 }, 'status', /not modified/],
  ['404', { is: 'status', status: 404 }, 'not-found', /404/],
  ['401', { is: 'status', status: 401 }, 'unauthorized', /401/],
  [
    'D20: an answer in gzip',
    { is: 'body', body: 'x', headers: { 'content-encoding': 'gzip' } },
    'not-json',
    /"gzip", though only identity/,
  ],
];

for (const [name, fault, code, says] of BROKEN) {
  test(`${name} is the fault ${code}, and the next request is none the worse`, async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    await using client = createClient(hive.url);
    hive.fail(fault);
    const found = await outcome(client);
    assert.equal(found.code, code, found.message);
    assert.match(found.message, says);
    assert.ok(found.message.startsWith(`${hive.url}${PATH}: `), found.message);
    await hive.heal();
    assert.equal((await outcome(client)).code, 'answered');
  });
}

test('a refused connection is the fault refused, and heals by itself on the same client', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url);
  assert.equal((await outcome(client)).code, 'answered');
  await hive.refuse();
  for (let i = 0; i < 3; i += 1) assert.equal((await outcome(client)).code, 'refused');
  await hive.heal();
  assert.equal((await outcome(client)).code, 'answered');
});

test('a redirect is never followed, not even to the same host', async () => {
  await using other = await fakeHive({ personas: ['ada'] });
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url);
  for (const to of [`${other.url}${PATH}`, '/api/personas']) {
    hive.fail({ is: 'redirect', to });
    const found = await outcome(client);
    assert.equal(found.code, 'redirect');
    assert.match(found.message, /redirects \(302\) to http:\/\/127/);
  }
  assert.equal(other.requests.length, 0);
  assert.equal(hive.asked('personas').length, 0);
});

test('D7: the deadline is one for the whole request: hanging and dripping bodies end with it', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  hive.deliver('ada');
  await using client = createClient(hive.url, { deadlineMs: 300 });
  for (const fault of [{ is: 'hang' }, { is: 'drip', everyMs: 50 }] as const) {
    hive.fail(fault);
    const start = performance.now();
    const found = await outcome(client);
    const took = performance.now() - start;
    assert.equal(found.code, 'timeout');
    assert.match(found.message, /no complete answer within 300 ms/);
    assert.ok(took >= 290 && took < 600, `${fault.is}: ${took} ms`);
  }
});

test('a request may have a deadline of its own, as a long-poll does', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url, { deadlineMs: 100 });
  hive.fail({ is: 'slow', ms: 250 });
  assert.equal((await outcome(client)).code, 'timeout');
  assert.equal((await client.get(PATH, never, { deadlineMs: 2000 })).status, 200);
});

test('D24: a body over the cap is cut, whether its length is announced or not', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url);
  hive.fail({ is: 'huge', bytes: 48 * 1024 * 1024 });
  const before = process.memoryUsage.rss();
  assert.equal((await outcome(client)).code, 'too-large');
  assert.ok(process.memoryUsage.rss() - before < 80 * 1024 * 1024);
  await using small = createClient(hive.url, { maxBytes: 1000 });
  hive.fail({ is: 'body', body: 'x'.repeat(1001) });
  assert.equal((await outcome(small)).code, 'too-large');
  hive.fail({ is: 'body', body: 'x'.repeat(1000) });
  assert.equal((await outcome(small)).code, 'answered');
});

test('an abort cuts a request at once, with the reason of the signal', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url);
  hive.fail({ is: 'hang' });
  const controller = new AbortController();
  const asked = client.get(PATH, controller.signal);
  while (hive.requests.length === 0) await setTimeout(5);
  const start = performance.now();
  controller.abort(new Error('stopped'));
  await assert.rejects(asked, /stopped/);
  assert.ok(performance.now() - start < 20);
  await assert.rejects(client.get(PATH, controller.signal), /stopped/);
});

test('a request that is over takes its connection with it: no abort, deadline or cap leaves one open', async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {}); // a reset is what is asked for
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(2000)}`)); // and never ends
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using late = createClient(url, { deadlineMs: 100 });
  await using small = createClient(url, { maxBytes: 1000 });
  await using aborted = createClient(url);
  assert.equal((await outcome(late)).code, 'timeout');
  assert.equal((await outcome(small)).code, 'too-large');
  await assert.rejects(aborted.get(PATH, AbortSignal.timeout(50)));
  await setTimeout(50);
  assert.equal(open.size, 0);
  server.close();
});

test('a reset drops every connection: what is under way fails as broken, and the next request connects anew', async () => {
  await using hive = await connectionCounter();
  await using client = createClient(hive.url);
  await client.get(PATH, never);
  const hung = outcome(client, '/hang');
  await hive.until(2);
  client.reset();
  assert.equal((await hung).code, 'broken');
  assert.equal((await outcome(client)).code, 'answered');
  assert.equal(hive.made, 3);
  await hive.untilOpen(1);
});

test('a reset does not wait for a name look-up that hangs, and forgets no admission', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let answers: readonly string[] | null = null;
  const resolve = () => (answers === null ? new Promise<never>(() => {}) : Promise.resolve(answers));
  await using client = createClient(`http://hive.test:${hive.port}`, { resolve, deadlineMs: 1000 });
  const hung = outcome(client);
  await setTimeout(20);
  answers = ['127.0.0.1'];
  client.reset();
  assert.equal((await outcome(client)).code, 'answered');
  answers = ['10.1.2.3'];
  client.reset();
  assert.equal((await outcome(client)).code, 'blocked');
  assert.notEqual((await hung).code, 'answered');
});

test('resets without number leave no connection behind', async () => {
  await using hive = await connectionCounter();
  await using client = createClient(hive.url);
  for (let n = 0; n < 20; n++) {
    await client.get(PATH, never);
    client.reset();
  }
  assert.equal(hive.made, 20);
  await hive.untilOpen(0);
});

/** Answers everything but `/hang`, and counts connections. */
async function connectionCounter() {
  const open = new Set<Socket>();
  let made = 0;
  const server = createHttpServer((request, response) => {
    if (request.url !== '/hang') response.end('{"result": []}');
  });
  server.on('connection', (socket) => {
    made += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wait = async (fits: () => boolean): Promise<void> => {
    for (let n = 0; n < 200 && !fits(); n++) await setTimeout(10);
    assert.ok(fits(), `${made} made, ${open.size} open`);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get made() {
      return made;
    },
    until: (n: number) => wait(() => made === n),
    untilOpen: (n: number) => wait(() => open.size === n),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('closing the client ends requests under way and closes its sockets at once', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const asked = outcome(client);
  await once(server, 'connection');
  const [socket] = sockets;
  assert.ok(socket);
  socket.resume();
  const gone = once(socket, 'close');
  const start = performance.now();
  await client[Symbol.asyncDispose]();
  assert.equal((await asked).code, 'broken');
  await gone;
  assert.ok(performance.now() - start < 100);
  server.close();
});

test('a hundred requests at once neither wait for each other nor fail each other', async () => {
  await using hive = await fakeHive({ personas: ['ada', 'bo'] });
  await using client = createClient(hive.url, { deadlineMs: 1000 });
  hive.fail({ is: 'hang' }, { persona: 'bo' });
  const hanging = Array.from({ length: 50 }, () => outcome(client, '/api/inbox?persona=bo&mark_read=false'));
  const good = await Promise.all(Array.from({ length: 50 }, () => outcome(client)));
  assert.ok(good.every(({ code }) => code === 'answered'));
  assert.ok((await Promise.all(hanging)).every(({ code }) => code === 'timeout'));
});

test('connections are kept: ten polls in a row use one', async () => {
  let connections = 0;
  const server = createHttpServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  server.on('connection', () => {
    connections += 1;
  });
  await once(server, 'listening');
  {
    await using client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    for (let i = 0; i < 10; i += 1) {
      await client.get('/', never);
      await setTimeout(5);
    }
  }
  server.close();
  assert.equal(connections, 1);
});

for (const host of ['127.0.0.1', '::1'] as const) {
  test(`S13: localhost reaches a hive that listens on ${host} only`, async () => {
    await using hive = await fakeHive({ personas: ['ada'], host });
    await using client = createClient(`http://localhost:${hive.port}`);
    assert.equal((await outcome(client)).code, 'answered');
  });
}

test('localhost with nobody on either family is refused, not an internal error', async () => {
  const hive = await fakeHive();
  await hive[Symbol.asyncDispose]();
  await using client = createClient(`http://localhost:${hive.port}`);
  assert.equal((await outcome(client)).code, 'refused');
});

test('localhost is never resolved: a resolver that lies is not asked', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  const resolve = () => Promise.reject(new Error('asked'));
  await using client = createClient(`http://localhost:${hive.port}`, { resolve });
  assert.equal((await outcome(client)).code, 'answered');
});

test('a name is connected at the addresses that were checked, the second when the first refuses', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(`http://hive.test:${hive.port}`, {
    resolve: async () => ['127.0.0.2', '127.0.0.1'],
  });
  assert.equal((await outcome(client)).code, 'answered');
  assert.equal(hive.requests[0]?.headers.host, `hive.test:${hive.port}`);
});

test('requests at the same moment share one resolution; each new connection resolves anew', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let resolutions = 0;
  const resolve = async () => {
    resolutions += 1;
    return ['127.0.0.1'];
  };
  await using client = createClient(`http://hive.test:${hive.port}`, { resolve });
  await Promise.all(Array.from({ length: 20 }, () => outcome(client)));
  assert.equal(resolutions, 1);
  await hive.refuse();
  await hive.heal();
  await setTimeout(20); // the ends of the old connections arrive
  assert.equal((await outcome(client)).code, 'answered');
  assert.equal(resolutions, 2);
});

test('a name that resolves to nothing is the fault dns', async () => {
  const failing = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
  await using client = createClient('http://hive.test:1', { resolve: failing });
  const found = await outcome(client);
  assert.equal(found.code, 'dns');
  assert.match(found.message, /^http:\/\/hive\.test:1.*ENOTFOUND/);
  await using empty = createClient('http://hive.test:1', { resolve: async () => [] });
  assert.equal((await outcome(empty)).code, 'dns');
});

test('a name with one inner address among its addresses is blocked, and nobody is connected', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  const policy = createPublicPolicy({ loopback: false, private: false });
  for (const addresses of [['1.1.1.1', '127.0.0.1'], ['127.0.0.1', '1.1.1.1'], ['::ffff:127.0.0.1']]) {
    await using client = createClient(`http://hive.test:${hive.port}`, { policy, resolve: async () => addresses });
    const found = await outcome(client);
    assert.equal(found.code, 'blocked');
    assert.match(found.message, /^hive\.test \((127\.0\.0\.1|::ffff:127\.0\.0\.1)\) is a loopback address/);
  }
  assert.equal(hive.requests.length, 0);
});

test('a hive whose name moves to another class between two connections is blocked (rebinding)', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let answer = ['127.0.0.1'];
  await using client = createClient(`http://hive.test:${hive.port}`, { resolve: async () => answer });
  assert.equal((await outcome(client)).code, 'answered');
  answer = ['10.0.0.1'];
  await hive.refuse();
  await hive.heal();
  await setTimeout(20); // the end of the old connection arrives
  const found = await outcome(client);
  assert.equal(found.code, 'blocked');
  assert.match(found.message, /hive\.test \(10\.0\.0\.1\) is a private address, and only loopback/);
  answer = ['127.0.0.1'];
  assert.equal((await outcome(client)).code, 'answered');
});

test('a literal is judged before anything is sent', () => {
  const policy = createPublicPolicy({ loopback: false, private: false });
  assert.throws(() => createClient('http://127.0.0.1:1/', { policy }), { code: 'blocked' });
  assert.throws(() => createClient('http://0x7f000001:1/', { policy }), { code: 'blocked' });
});

test('a path cannot lead to another host, and messages hide what may be secret', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  await using client = createClient(hive.url);
  const found = await outcome(client, '//evil.test/x?key=s3cret&persona=ada');
  assert.equal(found.code, 'not-found');
  assert.doesNotMatch(found.message, /s3cret/);
  assert.equal(hive.requests[0]?.headers.host, `127.0.0.1:${hive.port}`);
});

test('S14: proxy variables are not read: the recorder behind them sees nothing (D11)', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  let recorded = 0;
  const recorder = createServer((socket) => {
    recorded += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(recorder, 'listening');
  const proxy = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  const script = `
    import { AS_WRITTEN, createHttpClient } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    await using client = createHttpClient({
      url: ${JSON.stringify(hive.url)}, policy: AS_WRITTEN, scope: { is: 'source', key: 'k' },
      userAgent: 'hivebar/0', credential: { name: 'authorization', value: 'Bearer s3cret' },
    });
    console.log((await client.get('/api/personas', new AbortController().signal)).status);
  `;
  const names = ['http_proxy', 'https_proxy', 'all_proxy'];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: {
      PATH: process.env.PATH,
      NODE_USE_ENV_PROXY: '1',
      ...Object.fromEntries(names.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, proxy])),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  recorder.close();
  assert.equal(output.trim(), '200');
  assert.equal(hive.asked('personas').length, 1);
  assert.equal(recorded, 0);
});
