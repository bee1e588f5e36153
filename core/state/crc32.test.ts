import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 as nativeCrc32 } from 'node:zlib';
import { computeByTable, crc32 } from './crc32.node.ts';

const TEXTS: readonly string[] = [
  '',
  'a',
  '123456789',
  '\u0000\u001f\u007f',
  'größe, 蜂の巣, 🐝',
  'half a pair: \ud83d',
  'x'.repeat(200_000),
];

test('a checksum by the table is that of zlib, for texts and for bytes', () => {
  assert.equal(computeByTable('123456789'), 0xcbf43926);
  for (const text of TEXTS) {
    const bytes = Buffer.from(text, 'utf8');
    assert.deepEqual([computeByTable(text), computeByTable(bytes)], [nativeCrc32(text), nativeCrc32(bytes)]);
  }
  const every = Uint8Array.from({ length: 1024 }, (_, index) => (index * 7) & 0xff);
  assert.equal(computeByTable(every), nativeCrc32(every));
});

test('a checksum stays the same however much this process has summed before', () => {
  for (let round = 0; round < 3; round += 1)
    for (const text of TEXTS) assert.equal(crc32(text), nativeCrc32(text), `${round}`);
});
