import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fakeHive } from '../../test/kit/fake-hive.ts';
import { fakeProxy, type ProxyFault } from '../../test/kit/fake-hive-proxy.ts';
import { CERTIFICATE, tlsFront } from '../../test/kit/fake-hive-tls.ts';
import { until } from '../../test/kit/until.ts';
import { Fault } from '../model/index.ts';
import { AS_WRITTEN, createHttpClient, type HttpClient, type HttpOptions } from './index.ts';

const never = new AbortController().signal;

function createClient(url: string, proxy: string, more: Partial<HttpOptions> = {}): HttpClient {
  return createHttpClient({
    url,
    policy: AS_WRITTEN,
    scope: { is: 'source', key: 'hosted' },
    userAgent: 'hivebar/0.0.0-test',
    credential: { name: 'authorization', value: 'Bearer s3cret' },
    resolve: (name) => Promise.reject(new Error(`${name} was asked for`)),
    proxy,
    ...more,
  });
}

async function outcome(client: HttpClient): Promise<string> {
  try {
    await client.get('/api/personas', never);
    await setTimeout(20); // its connection is free for the next one
    return 'answered';
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return `${error.code}: ${error.message}`;
  }
}

test('D11: https goes through CONNECT: the proxy sees a host and a port, and never the token; the name is not resolved here', async (t) => {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  t.after(() => setDefaultCACertificates(trusted));
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
  await using front = await tlsFront(hive.port);
  await using proxy = await fakeProxy(front.port);
  await using client = createClient('https://hive.test', proxy.url);
  for (let n = 0; n < 3; n += 1) assert.equal(await outcome(client), 'answered');
  assert.deepEqual(proxy.connects, ['hive.test:443'], 'one tunnel is kept');
  assert.deepEqual(proxy.headers, [{ host: 'hive.test:443', 'user-agent': 'hivebar/0.0.0-test', connection: 'close' }]);
  assert.equal(hive.requests[0]?.headers.authorization, 'Bearer s3cret');
  assert.equal(hive.requests[0]?.headers.host, 'hive.test');
  // The certificate is checked against the hive's name, whoever opened the way.
  await using other = createClient('https://other.test', proxy.url);
  assert.match(await outcome(other), /^tls: .*ALTNAME/);
});

test('D11: plain http goes through CONNECT too: the proxy is handed no request to read, keep or change', async () => {
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
  await using proxy = await fakeProxy(hive.port);
  await using client = createClient('http://hive.test:7474', proxy.url);
  assert.equal(await outcome(client), 'answered');
  assert.deepEqual([proxy.connects, proxy.requests], [['hive.test:7474'], []]);
  assert.equal(proxy.headers[0]?.authorization, undefined);
  assert.equal(hive.requests[0]?.url, '/api/personas');
});

const BROKEN: readonly (readonly [ProxyFault, RegExp])[] = [
  [{ is: 'status', status: 403 }, /^status: the proxy http:\S+ answered 403 to CONNECT hive\.test:80$/],
  [{ is: 'status', status: 407 }, /^status: the proxy \S+ answered 407 \(it asks for a password/],
  [{ is: 'hang' }, /^timeout: /],
  [{ is: 'reset' }, /^broken: proxy http:\S+: the connection broke off/],
];

for (const [fault, says] of BROKEN) {
  test(`a proxy with ${JSON.stringify(fault)} is a failure that names it, and heals by itself`, async () => {
    await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
    await using proxy = await fakeProxy(hive.port);
    await using client = createClient('http://hive.test', proxy.url, { deadlineMs: 500 });
    proxy.fail(fault);
    assert.match(await outcome(client), says);
    assert.match(await outcome(client), says);
    await until('no connection is left', () => proxy.connections === 0);
    proxy.fail(null);
    let last = await outcome(client);
    for (let n = 0; n < 5 && last !== 'answered'; n += 1) last = await outcome(client);
    assert.equal(last, 'answered');
  });
}

test('a proxy that is not there is refused, and no way around it is tried', async () => {
  await using hive = await fakeHive({ personas: ['ada'] });
  const proxy = await fakeProxy(hive.port);
  await proxy[Symbol.asyncDispose]();
  await using client = createClient(`http://hive.test:${hive.port}`, proxy.url, { resolve: async () => ['127.0.0.1'] });
  assert.match(await outcome(client), /^refused: proxy http:\/\/127\.0\.0\.1:\d+\/: connection refused/);
  assert.equal(hive.requests.length, 0);
});

test('the name of the proxy is resolved and guarded: it stays in the class it first answered from', async () => {
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
  await using proxy = await fakeProxy(hive.port);
  let addresses = ['127.0.0.1'];
  const asked: string[] = [];
  const resolve = async (name: string): Promise<readonly string[]> => {
    asked.push(name);
    return addresses;
  };
  await using client = createClient('http://hive.test', `http://proxy.test:${new URL(proxy.url).port}`, { resolve });
  assert.equal(await outcome(client), 'answered');
  addresses = ['10.0.0.1'];
  client.reset();
  assert.match(await outcome(client), /^blocked: proxy\.test \(10\.0\.0\.1\) is a private address, and only loopback/);
  assert.deepEqual(asked, ['proxy.test', 'proxy.test']);
});

test('an abort, a reset and the end of the client leave no tunnel, and wait for none that hangs', async () => {
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
  await using proxy = await fakeProxy(hive.port);
  const client = createClient('http://hive.test', proxy.url, { deadlineMs: 600_000 });
  assert.equal(await outcome(client), 'answered');
  assert.equal(proxy.open, 1);
  client.reset();
  await until('the tunnel is gone', () => proxy.open === 0);
  proxy.fail({ is: 'hang' });
  const hung = outcome(client);
  await until('it is asked', () => proxy.connects.length === 2);
  const start = performance.now();
  await client[Symbol.asyncDispose]();
  assert.match(await hung, /^broken: /);
  assert.ok(performance.now() - start < 5000);
  await until('its connection is gone', () => proxy.connections === 0);
});

test('D11: proxy variables change nothing where a proxy is configured', async () => {
  await using hive = await fakeHive({ personas: ['ada'], token: 's3cret' });
  await using proxy = await fakeProxy(hive.port);
  let recorded = 0;
  const recorder = createServer(() => {}).on('connection', (socket) => {
    recorded += 1;
    socket.destroy();
  });
  recorder.listen(0, '127.0.0.1');
  await once(recorder, 'listening');
  const at = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  const { spawn } = await import('node:child_process');
  const script = `
    import { AS_WRITTEN, createHttpClient } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    await using client = createHttpClient({
      url: 'http://hive.test', policy: AS_WRITTEN, scope: { is: 'source', key: 'k' }, userAgent: 'hivebar/0',
      credential: { name: 'authorization', value: 'Bearer s3cret' }, proxy: ${JSON.stringify(proxy.url)},
    });
    console.log((await client.get('/api/personas', new AbortController().signal)).status);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: {
      PATH: process.env.PATH,
      NODE_USE_ENV_PROXY: '1',
      http_proxy: at,
      HTTP_PROXY: at,
      https_proxy: at,
      ALL_PROXY: at,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  recorder.close();
  assert.deepEqual([output.trim(), recorded, proxy.connects], ['200', 0, ['hive.test:80']]);
});
