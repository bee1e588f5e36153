import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DatabaseSight, type FileSight, judgePeek, type PeekPlan, planPeek } from './sqlite-peek.ts';

const NONE: DatabaseSight = { main: null, wal: null, shm: null, journal: null };
const file = (size: number, changes: Partial<FileSight> = {}): FileSight => ({
  ...{ kind: 'file', identity: '1:1', size, changed: 1n },
  ...changes,
});

const PLANS: readonly (readonly [string, Partial<DatabaseSight>, PeekPlan])[] = [
  ['no file', {}, { is: 'absent' }],
  ['only side files', { wal: file(9), shm: file(9) }, { is: 'absent' }],
  ['no side file', { main: file(9) }, { is: 'read', way: 'immutable' }],
  ['an empty -wal', { main: file(9), wal: file(0), shm: file(9) }, { is: 'read', way: 'immutable' }],
  ['a filled -wal and a -shm', { main: file(9), wal: file(9), shm: file(9) }, { is: 'read', way: 'read-only' }],
  ['a filled -wal and no -shm', { main: file(9), wal: file(9) }, { is: 'read', way: 'copy' }],
  [
    'a filled -wal, an empty main file',
    { main: file(0), wal: file(9), shm: file(0) },
    { is: 'read', way: 'read-only' },
  ],
  ['a filled -journal', { main: file(9), journal: file(9) }, { is: 'again' }],
  ['an empty -journal', { main: file(9), journal: file(0) }, { is: 'read', way: 'immutable' }],
];

describe('how a database of somebody else is read', () => {
  for (const [title, sight, plan] of PLANS)
    test(`${title}: ${'way' in plan ? plan.way : plan.is}`, () => {
      assert.deepEqual(planPeek({ ...NONE, ...sight }), plan);
    });

  test('a link or another kind of file is refused, also as a side file', () => {
    const symlink = file(9, { kind: 'symlink' });
    assert.deepEqual(planPeek({ ...NONE, main: symlink }), {
      is: 'unreadable',
      why: 'it is a symbolic link, which is refused',
    });
    assert.deepEqual(planPeek({ ...NONE, main: file(9), wal: file(9, { kind: 'other' }) }), {
      is: 'unreadable',
      why: 'its -wal is not a regular file',
    });
  });

  test('a large database is not copied', () => {
    assert.equal(planPeek({ ...NONE, main: file(1e9), wal: file(9) }).is, 'unreadable');
  });
});

describe('what a peek is worth', () => {
  const still: DatabaseSight = { ...NONE, main: file(9), wal: file(0) };
  const inWal: DatabaseSight = { ...NONE, main: file(9), wal: file(9), shm: file(9) };
  const copied: DatabaseSight = { ...inWal, shm: null };
  const MALFORMED = { code: 11, message: 'database disk image is malformed' };

  test('nobody wrote: valid', () => {
    for (const way of ['immutable', 'read-only', 'copy'] as const) {
      const sight = { immutable: still, 'read-only': inWal, copy: copied }[way];
      assert.equal(judgePeek(way, sight, sight, null), 'valid');
    }
  });

  test('immutable, and somebody wrote, replaced it, or began a -wal: busy, whatever was read', () => {
    for (const after of [
      { main: file(9, { changed: 2n }) },
      { main: file(10) },
      { main: file(9, { identity: '1:2' }) },
      { main: null },
      { wal: file(9) },
      { journal: file(9) },
    ])
      for (const failure of [null, MALFORMED])
        assert.equal(judgePeek('immutable', still, { ...still, ...after }, failure), 'busy');
  });

  test('read-only, and somebody wrote: valid, because of the transaction', () => {
    assert.equal(judgePeek('read-only', inWal, { ...inWal, wal: file(99) }, null), 'valid');
    assert.equal(judgePeek('read-only', inWal, still, null), 'valid');
  });

  test('a copy, and somebody wrote or opened it: busy', () => {
    assert.equal(judgePeek('copy', copied, { ...copied, wal: file(99) }, null), 'busy');
    assert.equal(judgePeek('copy', copied, { ...copied, shm: file(9) }, null), 'busy');
  });

  test('errors of SQLite, by what can be done about them', () => {
    const errors: readonly (readonly [number, string, string])[] = [
      [5, 'database is locked', 'busy'],
      [264, 'attempt to write a readonly database', 'busy'],
      [11, 'database disk image is malformed', 'malformed'],
      [26, 'file is not a database', 'malformed'],
      [1, 'no such table: queued_items', 'schema'],
      [1, 'no such column: id', 'schema'],
      [1, 'near "x": syntax error', 'unreadable'],
      [14, 'unable to open database file', 'unreadable'],
    ];
    for (const [code, message, trouble] of errors)
      assert.equal(judgePeek('read-only', inWal, inWal, { code, message }), trouble, message);
  });

  test('the -shm went away before the opening: busy', () => {
    assert.equal(judgePeek('read-only', inWal, still, { code: 14, message: 'unable to open database file' }), 'busy');
  });
});
