import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault, type FaultCode } from '../model/index.ts';
import { type AddressPolicy, AS_WRITTEN, admit, createPublicPolicy, parseProxy, parseTarget } from './policy.ts';

const SCOPE = { is: 'source', key: 'kijito' } as const;
const PUBLIC = createPublicPolicy({ loopback: false, private: false });
const LOOPBACK = createPublicPolicy({ loopback: true, private: false });
const PRIVATE = createPublicPolicy({ loopback: false, private: true });
const BOTH = createPublicPolicy({ loopback: true, private: true });

function verdict(run: () => unknown): FaultCode | 'admitted' {
  try {
    run();
    return 'admitted';
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error.code;
  }
}

const literal = (policy: AddressPolicy, host: string) => verdict(() => parseTarget(`http://${host}/`, policy, SCOPE));
const resolved = (policy: AddressPolicy, ...addresses: string[]) =>
  verdict(() => admit(parseTarget('http://hive.test/', policy, SCOPE).admission, 'hive.test', addresses, SCOPE));

const REFUSED_BY_DEFAULT = [
  '127.0.0.1',
  '10.0.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '224.0.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[::ffff:0:127.0.0.1]',
  '[fec0::1]',
  '[fd00::1]',
  '[fe80::1]',
  '[ff02::1]',
  'localhost',
  'localhost.',
  'a.localhost',
];

for (const host of REFUSED_BY_DEFAULT) {
  test(`D14: a --url of ${host} is blocked by default`, () => assert.equal(literal(PUBLIC, host), 'blocked'));
}

test('a --url of a public address is admitted', () => assert.equal(literal(PUBLIC, '1.1.1.1'), 'admitted'));

test('D14: --allow-loopback admits loopback, in every spelling, and nothing else', () => {
  for (const host of ['127.0.0.1', '2130706433', '[::1]', '[::ffff:7f00:1]', 'localhost']) {
    assert.equal(literal(LOOPBACK, host), 'admitted', host);
  }
  for (const host of ['10.0.0.1', '169.254.169.254', '0.0.0.0', '[fd00::1]']) {
    assert.equal(literal(LOOPBACK, host), 'blocked', host);
  }
});

test('D14: --allow-private admits private space, and neither loopback nor the metadata address', () => {
  for (const host of ['10.0.0.1', '172.16.0.1', '192.168.0.1', '[fd00::1]', '[fec0::1]']) {
    assert.equal(literal(PRIVATE, host), 'admitted', host);
  }
  for (const host of [
    '127.0.0.1',
    '[::1]',
    'localhost',
    '169.254.169.254',
    '100.64.0.1',
    '[::ffff:a9fe:a9fe]',
    '0.0.0.0',
  ]) {
    assert.equal(literal(PRIVATE, host), 'blocked', host);
  }
});

test('D14: both flags together still open neither link-local nor multicast', () => {
  for (const host of ['169.254.169.254', '[fe80::1]', '224.0.0.1', '0.0.0.0', '240.0.0.1']) {
    assert.equal(literal(BOTH, host), 'blocked', host);
  }
});

test('a name is blocked when any of its addresses is refused, wherever it stands', () => {
  assert.equal(resolved(PUBLIC, '1.1.1.1', '2606:4700::1111'), 'admitted');
  assert.equal(resolved(PUBLIC, '1.1.1.1', '127.0.0.1'), 'blocked');
  assert.equal(resolved(PUBLIC, '10.0.0.1', '1.1.1.1'), 'blocked');
  assert.equal(resolved(PUBLIC, '1.1.1.1', 'fe80::1%eth0'), 'blocked');
  assert.equal(resolved(PUBLIC, '1.1.1.1', 'nonsense'), 'blocked');
});

test('a name without any address is a DNS failure, never an admission', () => {
  assert.equal(resolved(PUBLIC), 'dns');
  assert.equal(resolved(AS_WRITTEN), 'dns');
});

test('a --hive may lie where the user wrote it: loopback, private, shared or link-local', () => {
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '192.168.1.2', '100.101.102.103', '169.254.7.7', '1.1.1.1']) {
    assert.equal(literal(AS_WRITTEN, host), 'admitted', host);
  }
});

test('a --hive is never at an address that no server has', () => {
  for (const host of ['224.0.0.1', '0.0.0.0', '0', '[::]', '240.0.0.1', '192.0.2.1', '[2001:db8::1]', '[ff02::1]']) {
    assert.equal(literal(AS_WRITTEN, host), 'blocked', host);
  }
  for (const address of ['0.0.0.0', '224.0.0.1', 'nonsense'])
    assert.equal(resolved(AS_WRITTEN, address), 'blocked', address);
});

test('the name of a --hive has the class of its first resolution for the life of the process', () => {
  const { admission } = parseTarget('https://hive.test/', AS_WRITTEN, SCOPE);
  const held = admit(admission, 'hive.test', ['1.1.1.1'], SCOPE);
  assert.deepEqual(admit(held, 'hive.test', ['8.8.8.8', '2606:4700::1111'], SCOPE), held);
  for (const moved of ['127.0.0.1', '10.0.0.1', '169.254.169.254']) {
    assert.equal(
      verdict(() => admit(held, 'hive.test', [moved], SCOPE)),
      'blocked',
    );
  }
  assert.equal(resolved(AS_WRITTEN, '1.1.1.1', '10.0.0.1'), 'blocked');
});

test('a refusal names the host, the address, its class, and what is allowed', () => {
  assert.throws(
    () => admit(parseTarget('http://hive.test/', PUBLIC, SCOPE).admission, 'hive.test', ['10.1.2.3'], SCOPE),
    {
      code: 'blocked',
      message: 'hive.test (10.1.2.3) is a private address, and only public is allowed here',
      scope: SCOPE,
    },
  );
});

for (const [url, why] of [
  ['ftp://1.1.1.1/', 'neither http nor https'],
  ['file:///etc/passwd', 'neither http nor https'],
  ['javascript:1', 'neither http nor https'],
  ['1.1.1.1/api', 'is not a URL'],
  ['', 'is not a URL'],
  ['http://', 'is not a URL'],
  ['http://[fe80::1%25eth0]/', 'is not a URL'],
  ['http://me:secret@1.1.1.1/', 'user name or password'],
  ['http://evil.test%40@1.1.1.1/', 'user name or password'],
] as const) {
  test(`${JSON.stringify(url)} is a bad URL: ${why}`, () => {
    assert.throws(
      () => parseTarget(url, PUBLIC, SCOPE),
      (error: unknown) => {
        assert.ok(error instanceof Fault);
        assert.equal(error.code, 'bad-url');
        assert.match(error.message, new RegExp(why));
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  });
}

test('what stands behind # is no part of the host', () => {
  assert.deepEqual(parseTarget('http://evil.test#@127.0.0.1/', PUBLIC, SCOPE).host, { is: 'name', name: 'evil.test' });
});

test('a proxy is scheme, host and port, and no proxy leads to a hive on this machine', () => {
  const proxied = (proxy: string, hive: string) =>
    verdict(() => parseProxy(proxy, parseTarget(hive, AS_WRITTEN, SCOPE), SCOPE));
  for (const proxy of ['http://127.0.0.1:3128', 'http://proxy.test:3128/', 'https://proxy.test', 'http://[::1]:1']) {
    assert.equal(proxied(proxy, 'https://hive.test'), 'admitted', proxy);
  }
  for (const [proxy, code] of [
    ['proxy.test:3128', 'bad-url'],
    ['socks5://127.0.0.1:1080', 'bad-url'],
    ['http://me:secret@proxy.test', 'bad-url'],
    ['http://0.0.0.0:3128', 'blocked'],
    ['http://proxy.test/path', 'usage'],
    ['http://proxy.test/?a', 'usage'],
  ] as const) {
    assert.equal(proxied(proxy, 'https://hive.test'), code, proxy);
  }
  for (const hive of ['http://localhost:7474', 'http://127.0.0.1:7474', 'http://[::1]', 'http://[::ffff:127.0.0.1]']) {
    assert.equal(proxied('http://proxy.test:3128', hive), 'usage', hive);
  }
});
