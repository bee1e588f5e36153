import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AddressClass, classifyAddress, parseAddressBytes, toHost } from './policy.ts';

const CLASSES: readonly (readonly [AddressClass, readonly string[]])[] = [
  [
    'public',
    [
      '1.1.1.1',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '169.253.255.255',
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.0.1.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '2606:4700::1111',
      '2000::',
      '2001:4860:4860::8888',
      '::ffff:8.8.8.8',
      '64:ff9b::8.8.8.8',
      '64:ff9b:1::8.8.8.8',
      '2002:808:808::1',
    ],
  ],
  ['loopback', ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']],
  [
    'private',
    [
      '10.0.0.0',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      'fc00::1',
      'fdff::1',
      'fec0::1',
      'feff::',
    ],
  ],
  ['link-local', ['169.254.0.0', '169.254.169.254', 'fe80::1', 'febf::1']],
  ['shared', ['100.64.0.0', '100.127.255.255']],
  ['benchmarking', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1']],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
  ['unspecified', ['0.0.0.0', '::']],
  [
    'reserved',
    [
      '0.0.0.1',
      '192.0.0.1',
      '192.88.99.1',
      '240.0.0.1',
      '255.255.255.255',
      '100::1',
      '4000::1',
      '5f00::1',
      '2001:1::1',
      '64:ff9b:1:7f00:0:100::',
      '64:ff9b:2::1',
      'fe00::1',
    ],
  ],
  [
    'invalid',
    [
      '',
      'localhost',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.0.0.256',
      '1.2.3.4.5',
      ' 127.0.0.1',
      'fe80::1%eth0',
      'fe80::1%25eth0',
      '[::1]',
      ':::',
      '::1::',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7::8',
      '::127.0.0.1:1',
      '127.0.0.1::',
      '12345::',
      '::g',
    ],
  ],
];

for (const [is, addresses] of CLASSES) {
  for (const address of addresses)
    test(`${JSON.stringify(address)} is ${is}`, () => assert.equal(classifyAddress(address), is));
}

/** Every way an IPv6 address may carry 127.0.0.1, 169.254.169.254 and 10.0.0.1. */
const CARRIED: readonly (readonly [AddressClass, string])[] = [
  ['loopback', '7f00:1'],
  ['link-local', 'a9fe:a9fe'],
  ['private', 'a00:1'],
];

for (const [is, tail] of CARRIED) {
  for (const prefix of ['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::']) {
    test(`D14: ${prefix}${tail} has the ${is} class of what it carries`, () =>
      assert.equal(classifyAddress(prefix + tail), is));
  }
  test(`D14: 2002:${tail}:: (6to4) is ${is}`, () => assert.equal(classifyAddress(`2002:${tail}::`), is));
  test(`D14: Teredo by a ${is} server is ${is}`, () => assert.equal(classifyAddress(`2001:0:${tail}::f7f7:f7f7`), is));
}

test('D14: Teredo of an inner client is the class of that client, which it carries inverted', () => {
  assert.equal(classifyAddress('2001:0:808:808::80ff:fffe'), 'loopback');
  assert.equal(classifyAddress('2001:0:808:808::f7f7:f7f7'), 'public');
});

/** What the contracts list as spellings, as a URL has them. */
const SPELLINGS: readonly (readonly [host: string, AddressClass])[] = [
  ['2130706433', 'loopback'],
  ['0x7f000001', 'loopback'],
  ['0x7f.1', 'loopback'],
  ['0177.0.0.1', 'loopback'],
  ['017700000001', 'loopback'],
  ['127.1', 'loopback'],
  ['127.0.0.1.', 'loopback'],
  ['１２７.0.0.1', 'loopback'],
  ['①②⑦.⓪.⓪.①', 'loopback'],
  ['127。0。0。1', 'loopback'],
  ['%31%32%37.0.0.1', 'loopback'],
  ['0', 'unspecified'],
  ['[::ffff:127.0.0.1]', 'loopback'],
  ['[::127.0.0.1]', 'loopback'],
  ['[64:ff9b::7f00:1]', 'loopback'],
  ['[64:ff9b:1::7f00:1]', 'loopback'],
  ['[2002:7f00:1::]', 'loopback'],
  ['[::ffff:0:127.0.0.1]', 'loopback'],
  ['[fec0::1]', 'private'],
  ['0xa9fea9fe', 'link-local'],
  ['[::ffff:a9fe:a9fe]', 'link-local'],
];

for (const [spelling, is] of SPELLINGS) {
  test(`http://${spelling}/ leads to a ${is} address`, () => {
    const host = toHost(new URL(`http://${spelling}:8080/`));
    assert.equal(host.is, 'literal');
    assert.equal(host.is === 'literal' && classifyAddress(host.address), is);
  });
}

test('exactly what node takes for an address has bytes, and they survive being written out', () => {
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ unit: fc.constantFrom('0', '1', '25', 'f', 'ff', ':', '::', '.', '127'), maxLength: 14 }),
  );
  fc.assert(
    fc.property(text, (address) => {
      const bytes = parseAddressBytes(address);
      assert.equal(bytes !== null, isIP(address) !== 0, address);
      if (bytes === null) return;
      const full = Array.from({ length: 8 }, (_, i) =>
        Buffer.from(bytes)
          .readUInt16BE(2 * i)
          .toString(16),
      ).join(':');
      assert.deepEqual(parseAddressBytes(full), bytes);
      assert.equal(classifyAddress(full), classifyAddress(address), `${full} and ${address}`);
    }),
    { numRuns: 3000 },
  );
});
