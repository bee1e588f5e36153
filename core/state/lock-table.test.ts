import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFlocked, readLockTable } from './lock-table.node.ts';

test('C9 a table of locks: only a lock by flock on that very file counts', () => {
  const table =
    '1: FLOCK  ADVISORY  WRITE 23105 fe:00:2157637 0 EOF\n2: POSIX  ADVISORY  READ 23547 fe:00:21 128 128\n';
  assert.deepEqual(
    [2157637, 21, 215763, 0].map((inode) => isFlocked(table, inode)),
    [true, false, false, false],
  );
});

test('a system without a table of locks has none', () => {
  assert.equal(readLockTable('darwin'), null);
});
