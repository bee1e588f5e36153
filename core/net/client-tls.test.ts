import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CERTIFICATE, KEY } from '../../test/kit/fake-hive-tls.ts';
import { AS_WRITTEN, createHttpClient, createPublicPolicy } from './index.ts';

const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end('{"result":[]}'));
const trusted = getCACertificates('default');
const never = new AbortController().signal;
let port = 0;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

after(() => {
  setDefaultCACertificates(trusted);
  server.close();
});

const createClient = (host: string) =>
  createHttpClient({
    url: `https://${host}:${port}`,
    policy: AS_WRITTEN,
    scope: { is: 'source', key: host },
    userAgent: 'hivebar/0',
    credential: null,
    resolve: async () => ['127.0.0.1'],
  });

test('a certificate nobody vouches for is the fault tls', async () => {
  setDefaultCACertificates(trusted);
  await using client = createClient('hive.test');
  await assert.rejects(client.get('/', never), { code: 'tls', message: /hive\.test.*SELF_SIGNED/ });
});

test('the name in the URL is what the certificate must be for, although the connection goes to a checked address', async () => {
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  await using client = createClient('hive.test');
  assert.equal((await client.get('/', never)).status, 200);
  await using other = createClient('other.test');
  await assert.rejects(other.get('/', never), { code: 'tls', message: /other\.test.*ERR_TLS_CERT_ALTNAME_INVALID/ });
});

test('a name of the wrong class is blocked before any handshake', async () => {
  await using client = createHttpClient({
    url: `https://hive.test:${port}`,
    policy: createPublicPolicy({ loopback: false, private: true }),
    scope: { is: 'source', key: 'hive.test' },
    userAgent: 'hivebar/0',
    credential: null,
    resolve: async () => ['127.0.0.1'],
  });
  await assert.rejects(client.get('/', never), { code: 'blocked' });
});

test('plain HTTP where TLS was asked for is the fault tls', async () => {
  const { fakeHive } = await import('../../test/kit/fake-hive.ts');
  await using hive = await fakeHive();
  await using client = createHttpClient({
    url: `https://127.0.0.1:${hive.port}`,
    policy: AS_WRITTEN,
    scope: { is: 'source', key: 'k' },
    userAgent: 'hivebar/0',
    credential: null,
  });
  await assert.rejects(client.get('/', never), { code: 'tls' });
});
