import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectionEnds, findRow, parseTable } from './connections.node.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, remote: string, uid: number): string =>
  `   0: ${local} ${remote} 01 00000000:0000002A 00:00000000 00000000  ${uid}        0 93339 1 00000000d0425fc1 100 0 0 10 0`;
const V4 = [HEAD, row('0100007F:1D33', '0100007F:A0C3', 1000), row('0100007F:A0C3', '0100007F:1D33', 1001)].join('\n');
const SIX = '00000000000000000000000001000000';
const MAPPED = '0000000000000000FFFF00000100007F';
const V6 = [HEAD, row(`${SIX}:A0C3`, `${SIX}:1D33`, 1002), row(`${MAPPED}:A0C4`, `${MAPPED}:1D33`, 1003)].join('\n');

const findUid = (tables: readonly string[], ends: ConnectionEnds): number | null =>
  findRow(parseTable(tables), ends)?.uid ?? null;

test('B1 the user of a connection is found by both of its ends, in either table', () => {
  const ends = (address: string, port: number, far = address) => ({
    local: { address, port },
    remote: { address: far, port: 0x1d33 },
  });
  assert.equal(findUid([V4, V6], ends('127.0.0.1', 0xa0c3)), 1001);
  assert.equal(findUid([V4, V6], ends('::1', 0xa0c3)), 1002);
  assert.equal(findUid([V4, V6], ends('127.0.0.1', 0xa0c4)), 1003, 'IPv4 on a socket of IPv6');
  assert.equal(findUid([V4, V6], ends('::ffff:127.0.0.1', 0xa0c3)), 1001);
  assert.equal(
    findUid([V4, V6], ends('127.0.0.2', 0xa0c3, '127.0.0.1')),
    null,
    'the address counts, not the port alone',
  );
  assert.equal(findRow(parseTable([V4]), ends('127.0.0.1', 0xa0c3))?.unread, 0x2a);
  assert.equal(findUid(['', ''], ends('127.0.0.1', 0xa0c3)), null);
});
