import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { silentLog } from '../ports/index.ts';
import { type Database, openDatabase } from '../state/index.ts';
import { type LocalHive, openLocalHive, type TrimmedRow } from './local-hive.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-recent-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const never = new AbortController().signal;
const NAMES = ['ada', 'bo', 'cy'];
const CHARS = 8;

function open(db: Database, counts?: { reads: number }): LocalHive {
  const spied: Database =
    counts === undefined
      ? db
      : {
          ...db,
          get isTransaction() {
            return db.isTransaction;
          },
          prepare<Row>(sql: string) {
            const statement = db.prepare<Row>(sql);
            if (!/FROM inbox WHERE persona = \? AND seq > \?/.test(sql)) return statement;
            return {
              ...statement,
              all: (...values: Parameters<typeof statement.all>) => {
                counts.reads += 1;
                return statement.all(...values);
              },
            };
          },
        };
  return openLocalHive({ db: spied, clock: fakeClock(), log: silentLog, contentChars: CHARS });
}

const send = (hive: LocalHive, to: string, content = 'text', from = 'zoe'): number =>
  hive.sendNow({ to, from, content, urgent: false }).id;
const idsAbove = (hive: LocalHive, name: string, cursor: number): number[] =>
  hive.window(name, cursor, never).rows.map((row) => row.id);

describe('the newest mail in memory', () => {
  test('answers a watcher that is woken by it without a look into its inbox', async () => {
    using db = openDatabase(':memory:');
    const counts = { reads: 0 };
    using hive = open(db, counts);
    const cursor = new Map(NAMES.map((name) => [name, 0]));
    for (let round = 0; round < 50; round += 1) {
      for (const name of NAMES) {
        const id = send(hive, name);
        await null; // what a turn knew is forgotten
        assert.deepEqual(idsAbove(hive, name, cursor.get(name) ?? 0), [id]);
        cursor.set(name, id);
      }
    }
    assert.equal(counts.reads, 0);
  });

  test('goes on when it is full: what came last is there, what is older comes from the table', async () => {
    using db = openDatabase(':memory:');
    const counts = { reads: 0 };
    using hive = open(db, counts);
    const first = send(hive, 'ada');
    for (let n = 0; n < 1500; n += 1) send(hive, 'bo');
    await null;
    assert.equal(idsAbove(hive, 'bo', 0).length, 1500);
    const last = Array.from({ length: 1000 }, () => send(hive, 'cy'));
    await null;
    assert.deepEqual(idsAbove(hive, 'cy', 0), last);
    assert.equal(counts.reads, 0);
    assert.equal(idsAbove(hive, 'bo', 0).length, 1500);
    assert.deepEqual(idsAbove(hive, 'ada', 0), [first]);
    assert.equal(counts.reads, 2);
  });

  test('more at once than it holds comes from the table', async () => {
    using db = openDatabase(':memory:');
    using hive = open(db);
    const sent = Array.from({ length: 2500 }, () => send(hive, 'ada'));
    await null;
    assert.deepEqual(idsAbove(hive, 'ada', sent[0] ?? 0), sent.slice(1));
    const one = send(hive, 'ada');
    await null;
    assert.deepEqual(idsAbove(hive, 'ada', sent.at(-1) ?? 0), [one]);
  });
});

/** What `window` is to answer, by the plainest query there is. */
function plainly(db: Database, name: string, cursor: number): readonly TrimmedRow[] {
  return db
    .prepare<{ seq: number; from_: string; content: string; read_at: number | null }>(
      'SELECT seq, from_, content, read_at FROM inbox WHERE persona = ? AND seq > ? ORDER BY seq',
    )
    .all(name, cursor)
    .map((row) => ({
      id: row.seq,
      from: row.from_,
      created: '',
      content: [...row.content].slice(0, CHARS).join(''),
      read: row.read_at !== null,
    }));
}

type Act =
  | { readonly is: 'send' | 'elsewhere'; readonly to: string; readonly from: string; readonly content: string }
  | { readonly is: 'read'; readonly name: string; readonly all: boolean; readonly here: boolean }
  | { readonly is: 'fetch'; readonly name: string }
  | { readonly is: 'reap' }
  | { readonly is: 'look'; readonly name: string; readonly back: number };

const name = fc.constantFrom(...NAMES);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    is: fc.constantFrom('send' as const, 'elsewhere' as const),
    to: name,
    from: fc.constantFrom('zoe', 'ada'),
    content: fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom('', 'a\0b', '😀é漢'.repeat(20))),
  }),
  fc.record({ is: fc.constant('read' as const), name, all: fc.boolean(), here: fc.boolean() }),
  fc.record({ is: fc.constant('fetch' as const), name }),
  fc.constant({ is: 'reap' } as const),
  fc.record({ is: fc.constant('look' as const), name: fc.oneof(name, fc.constant('nobody')), back: fc.nat(12) }),
);

test('a window is what the table holds, whoever wrote it and whatever was read or deleted in between', async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40, size: 'max' }), async (acts) => {
      made += 1;
      const path = join(home, `${made}.sqlite`);
      using db = openDatabase(path);
      using other = openDatabase(path);
      using hive = open(db);
      using elsewhere = open(other);
      let last = 0;
      for (const one of acts) {
        switch (one.is) {
          case 'send':
          case 'elsewhere':
            last = send(one.is === 'send' ? hive : elsewhere, one.to, one.content.toWellFormed(), one.from);
            if (one.is === 'elsewhere') hive.changedElsewhere();
            break;
          case 'read':
            (one.here ? hive : elsewhere).markRead(one.name, one.all ? 'all' : [last, last - 1]);
            if (!one.here) hive.changedElsewhere();
            break;
          case 'fetch':
            hive.inbox({ persona: one.name, markRead: true, beforeId: null, limit: 3, unreadOnly: false });
            break;
          case 'reap':
            hive.reap(Number.MAX_SAFE_INTEGER);
            break;
          case 'look': {
            const cursor = Math.max(0, last - one.back);
            const { rows, unread, max } = hive.window(one.name, cursor, never);
            assert.deepEqual(
              rows.map((row) => ({ ...row, created: '' })),
              plainly(db, one.name, cursor),
            );
            const all = plainly(db, one.name, 0);
            assert.deepEqual(unread, { is: 'exact', n: all.filter((row) => !row.read).length });
            assert.ok(max >= (all.at(-1)?.id ?? 0));
          }
        }
        await null;
      }
    }),
    { numRuns: 150 },
  );
});
