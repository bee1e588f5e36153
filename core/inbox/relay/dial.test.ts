import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CERTIFICATE, KEY } from '../../../test/kit/fake-hive-tls.ts';
import { NO_NATS_SERVER, startNatsServer } from '../../../test/kit/nats-server.ts';
import { needs } from '../../../test/kit/require.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import type { Fault } from '../../model/index.ts';
import { parseNatsTarget } from '../../net/index.ts';
import { createDialer, type Dialer, openRelayLink } from './link.node.ts';
import { RELAY } from './link.ts';

const dialer = (url: string, more: { resolve?: () => Promise<readonly string[]>; token?: string } = {}): Dialer =>
  createDialer({
    server: parseNatsTarget(url, RELAY),
    token: () => more.token ?? 'secret',
    deadlineMs: 3000,
    ...(more.resolve === undefined ? {} : { resolve: more.resolve }),
  });

const catchFault = (dialed: Dialer): Promise<Fault> =>
  openRelayLink(dialed).then(
    () => assert.fail('it connected'),
    (error: Fault) => error,
  );

describe('connections to a NATS server', () => {
  test('a name that turns to another class of address is refused, and one that hides an inner address', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    using folder = scratch();
    await using server = await startNatsServer({ dir: folder.dir });
    let addresses = ['127.0.0.1'];
    const dialed = dialer(`nats://hub.test:${server.port}`, { resolve: async () => addresses });
    await (await dialed.connect()).close();
    addresses = ['10.0.0.7'];
    const moved = await catchFault(dialed);
    assert.deepEqual([moved.code, moved.scope.key], ['blocked', 'nats']);
    assert.match(moved.message, /hub\.test \(10\.0\.0\.7\) is a private address/);
    addresses = ['127.0.0.1', '169.254.169.254'];
    assert.equal((await catchFault(dialed)).code, 'blocked');
    addresses = ['127.0.0.1'];
    await (await dialed.connect()).close();
  });

  test('localhost is this machine, whatever a resolver says, on whichever of its addresses the server is', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    using folder = scratch();
    await using server = await startNatsServer({ dir: folder.dir });
    const dialed = dialer(`nats://localhost:${server.port}`, { resolve: () => assert.fail('nobody is asked') });
    await (await dialed.connect()).close();
  });

  test('with tls:// only a certificate that is trusted for the host as written counts', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    using folder = scratch();
    const tls = `tls { cert_file: "${folder.write('cert', CERTIFICATE)}", key_file: "${folder.write('key', KEY)}" }`;
    await using server = await startNatsServer({ dir: folder.dir, config: tls });
    const resolve = async (): Promise<readonly string[]> => ['127.0.0.1'];
    const url = `tls://hive.test:${server.port}`;
    assert.equal((await catchFault(dialer(url, { resolve }))).code, 'tls');
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, CERTIFICATE]);
    try {
      await (await openRelayLink(dialer(url, { resolve })))[Symbol.asyncDispose]();
      assert.equal((await catchFault(dialer(`tls://other.test:${server.port}`, { resolve }))).code, 'tls');
      const plain = await catchFault(dialer(`nats://hive.test:${server.port}`, { resolve }));
      assert.equal(plain.code, 'tls', plain.message);
    } finally {
      setDefaultCACertificates(before);
    }
  });

  test('a server without TLS is not talked to in the clear when the URL says tls', async (t) => {
    if (needs(t, NO_NATS_SERVER)) return;
    using folder = scratch();
    await using server = await startNatsServer({ dir: folder.dir });
    const fault = await catchFault(dialer(`tls://127.0.0.1:${server.port}`));
    assert.equal(fault.code, 'tls', fault.message);
    assert.ok(!server.log().includes('secret'));
  });

  test('a server below 2.9 is told apart, and so is one that is none', async () => {
    for (const [hello, code, words] of [
      [info('2.8.4'), 'relay-server', /runs version 2\.8\.4/],
      ['HTTP/1.1 400 Bad Request\r\n\r\n', 'broken', /connecting/],
    ] as const) {
      const server = createServer((socket) => {
        socket.write(hello);
        socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'));
        socket.on('error', () => {}); // the client goes away as it likes
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const fault = await catchFault(dialer(`nats://127.0.0.1:${port}`));
      server.close();
      assert.equal(fault.code, code, fault.message);
      assert.match(fault.message, words);
    }
  });
});

const info = (version: string): string =>
  `INFO {"server_id":"x","version":"${version}","proto":1,"host":"127.0.0.1","port":1,"max_payload":1048576,"headers":true,"jetstream":true}\r\n`;
