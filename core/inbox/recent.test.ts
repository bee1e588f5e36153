import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly, formatIso } from '../model/index.ts';
import { silentLog } from '../ports/index.ts';
import { type Database, migrate, openDatabase } from '../state/index.ts';
import { toHeadText } from './item-statements.ts';
import { type LocalHive, openLocalHive } from './local-hive.ts';
import { openRecentMessages } from './recent.ts';
import { INBOX_SCHEMA } from './schema.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-recent-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const never = new AbortController().signal;
const NAMES = ['ada', 'bo', 'cy'];
const CHARS = 8;
/** So many rows the memory holds. */
const HELD = 2000;

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
  hive.window(name, cursor, never).messages.map((row) => row.id);

describe('the newest mail in memory, by itself', () => {
  /** A memory over the real tables, and what it has of an inbox: ids, or null. */
  function memory({ before = [], headBytes = 32 }: { before?: readonly string[]; headBytes?: number | null } = {}) {
    const db = openDatabase(':memory:');
    migrate(db, 'inbox', INBOX_SCHEMA);
    const insert = db.prepare(
      'INSERT INTO inbox (persona, from_, content, urgent, created, read_at) VALUES (?, ?, ?, 0, ?, NULL)',
    );
    const add = (persona: string, content = 'text'): number =>
      insert.run(persona, 'zoe', content, 1_750_000_000_000).lastInsertRowid;
    const many = (persona: string, count: number): readonly number[] => {
      db.exec('BEGIN');
      const ids = Array.from({ length: count }, () => add(persona));
      db.exec('COMMIT');
      return ids;
    };
    for (const persona of before) add(persona);
    const recent = openRecentMessages(db, headBytes, (row) => ({
      id: row.id,
      from: row.from_,
      created: formatIso(row.created),
      content: toHeadText(row),
      read: row.read_at !== null,
    }));
    const above = (persona: string, after: number) => recent.above(persona, after)?.map((row) => row.id) ?? null;
    return { db, add, many, recent, above, [Symbol.dispose]: () => db[Symbol.dispose]() };
  }

  test('knows from the start that nothing is above the last message, and nothing of what is below', () => {
    using inbox = memory({ before: ['ada', 'bo', 'ada'] });
    for (const _ of [1, 2]) {
      assert.deepEqual(inbox.above('ada', 3), []);
      assert.deepEqual(inbox.above('ada', 99), []);
      assert.equal(inbox.above('ada', 2), null);
      assert.deepEqual(inbox.above('bo', 2), []);
      assert.equal(inbox.above('bo', 1), null);
      assert.deepEqual(inbox.above('nobody', 0), []);
      inbox.recent.catchUp(); // nothing came
    }
  });

  test('has what came since in order, down to the last message before it', () => {
    using inbox = memory({ before: ['ada', 'bo', 'bo'] });
    inbox.add('ada'); // 4
    inbox.add('new'); // 5
    inbox.recent.catchUp();
    inbox.add('ada'); // 6
    inbox.recent.catchUp();
    inbox.recent.catchUp();
    assert.equal(inbox.above('ada', 0), null);
    assert.deepEqual(inbox.above('ada', 1), [4, 6]);
    assert.deepEqual(inbox.above('ada', 2), [4, 6]);
    assert.deepEqual(inbox.above('ada', 4), [6]);
    assert.deepEqual(inbox.above('ada', 5), [6]);
    assert.deepEqual(inbox.above('ada', 6), []);
    assert.deepEqual(inbox.above('ada', 7), []);
    assert.deepEqual(inbox.above('new', 0), [5]);
    assert.equal(inbox.above('bo', 2), null);
  });

  test('holds a message for each of very many inboxes', () => {
    const names = Array.from({ length: HELD + 500 }, (_, i) => `p${i}`);
    using inbox = memory({ before: names });
    inbox.db.exec('BEGIN');
    const ids = names.map((name) => inbox.add(name));
    inbox.db.exec('COMMIT');
    inbox.recent.catchUp();
    assert.deepEqual(
      names.map((name, i) => inbox.above(name, i + 1)),
      ids.map((id) => [id]),
    );
  });

  test('tells rows as they are', () => {
    using inbox = memory();
    const text = 'a\0é漢😀';
    inbox.add('ada', text);
    inbox.recent.catchUp();
    assert.deepEqual(inbox.recent.above('ada', 0), [
      { id: 1, from: 'zoe', created: formatIso(1_750_000_000_000), content: text, read: false },
    ]);
  });

  test('keeps as many bytes of a text as it was told, all of one that has no more, and none when none are wanted', () => {
    const texts = ['', 'a'.repeat(7), 'é'.repeat(4), '漢\0漢x', 'a'.repeat(9), '\0'.repeat(9), '😀'.repeat(9)];
    const wanted = ['', 'a'.repeat(7), 'é'.repeat(4), '漢\0漢x', 'a'.repeat(8), '\0'.repeat(8), '😀😀'];
    for (const headBytes of [8, null]) {
      using inbox = memory({ headBytes });
      for (const text of texts) inbox.add('ada', text);
      inbox.recent.catchUp();
      assert.deepEqual(
        inbox.recent.above('ada', 0)?.map((row) => row.content),
        headBytes === null ? texts.map(() => null) : wanted,
      );
    }
  });

  test('forgets one inbox up to its last message, and no other', () => {
    using inbox = memory();
    inbox.add('ada'); // 1
    inbox.add('bo'); // 2
    inbox.recent.catchUp();
    inbox.recent.forget('ada');
    inbox.recent.forget('nobody');
    assert.equal(inbox.above('ada', 0), null);
    assert.deepEqual(inbox.above('ada', 1), []);
    assert.deepEqual(inbox.above('bo', 0), [2]);
    inbox.add('ada'); // 3
    inbox.recent.catchUp();
    assert.equal(inbox.above('ada', 0), null);
    assert.deepEqual(inbox.above('ada', 1), [3]);
  });

  test('has mail that came before an inbox was forgotten and was not read by then', () => {
    using inbox = memory({ before: ['ada'] });
    inbox.add('ada'); // 2
    inbox.recent.forget('ada');
    inbox.recent.catchUp();
    assert.deepEqual(inbox.above('ada', 1), [2]);
    assert.equal(inbox.above('ada', 0), null);
  });

  test('forgets all, and takes where each inbox stands from the table', () => {
    using inbox = memory();
    inbox.add('ada'); // 1
    inbox.add('bo'); // 2
    inbox.recent.catchUp();
    inbox.add('cy'); // 3, not read yet
    inbox.recent.forget(null);
    for (const [name, last] of [
      ['ada', 1],
      ['bo', 2],
      ['cy', 3],
    ] as const) {
      assert.equal(inbox.above(name, last - 1), null);
      assert.deepEqual(inbox.above(name, last), []);
    }
    inbox.add('ada'); // 4
    inbox.recent.catchUp();
    assert.deepEqual(inbox.above('ada', 1), [4]);
  });

  test('has all of its room again when it forgot all', () => {
    using inbox = memory();
    inbox.many('ada', 1500);
    inbox.recent.catchUp();
    inbox.recent.forget(null);
    for (const name of ['bo', 'cy', 'di', 'ed']) {
      inbox.many(name, HELD / 4);
      inbox.recent.catchUp();
    }
    assert.deepEqual(
      ['bo', 'cy', 'di', 'ed'].map((name) => inbox.above(name, 0)?.length),
      [HELD / 4, HELD / 4, HELD / 4, HELD / 4],
    );
  });

  test('goes on when the newest mail, and then all of it, was deleted', () => {
    using inbox = memory({ before: ['ada', 'bo'] });
    inbox.add('ada'); // 3
    inbox.recent.catchUp();
    for (const where of ['seq = 3', 'true']) {
      inbox.db.exec(`DELETE FROM inbox WHERE ${where}`);
      inbox.recent.forget(null);
      inbox.recent.catchUp();
      assert.deepEqual(inbox.above('ada', 3), []);
      assert.equal(inbox.above('ada', 2), null);
    }
    inbox.add('ada'); // 4
    inbox.recent.catchUp();
    assert.deepEqual(inbox.above('ada', 3), [4]);
  });

  test('holds 2,000 rows that came at once; of one more it holds none, and knows that', () => {
    for (const count of [HELD, HELD + 1]) {
      using inbox = memory({ before: ['ada', 'bo'] });
      const ids = inbox.many('ada', count);
      const last = ids.at(-1) ?? 0;
      inbox.recent.catchUp();
      assert.deepEqual(inbox.above('ada', 1), count === HELD ? ids : null);
      assert.deepEqual(inbox.above('ada', last), []);
      assert.equal(inbox.above('ada', last - 1)?.length ?? null, count === HELD ? 1 : null);
      assert.deepEqual(inbox.above('bo', 2), []);
      const next = inbox.add('ada');
      inbox.recent.catchUp();
      assert.deepEqual(inbox.above('ada', last), [next]);
    }
  });

  test('lets the older go for what comes when it is full, also of the same inbox', () => {
    using inbox = memory();
    const ada = inbox.many('ada', 1500);
    inbox.recent.catchUp();
    const bo = inbox.many('bo', 500);
    inbox.recent.catchUp();
    assert.deepEqual([inbox.above('ada', 0), inbox.above('bo', 0)], [ada, bo]);
    const newest = inbox.add('ada');
    inbox.recent.catchUp();
    assert.equal(inbox.above('ada', 0), null);
    assert.deepEqual(inbox.above('ada', ada.at(-1) ?? 0), [newest]);
    assert.equal(inbox.above('bo', 0), null);
    assert.deepEqual(inbox.above('bo', bo.at(-1) ?? 0), []);
  });
});

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
    const newest = send(hive, 'ada');
    await null;
    assert.deepEqual(idsAbove(hive, 'ada', sent.at(-1) ?? 0), [newest]);
  });
});

test('mail that another process sent is there in the next turn, before anything was said of it', async () => {
  const path = join(home, 'elsewhere.sqlite');
  using db = openDatabase(path);
  using other = openDatabase(path);
  using ownHive = open(db);
  using otherHive = open(other);
  const first = send(ownHive, 'ada');
  assert.deepEqual(idsAbove(ownHive, 'ada', 0), [first]);
  await null;
  const second = send(otherHive, 'ada');
  const window = ownHive.window('ada', first, never);
  assert.deepEqual([window.messages.map((row) => row.id), window.max, window.unread], [[second], second, exactly(2)]);
  otherHive.markRead('ada', 'all');
  ownHive.changedElsewhere();
  assert.deepEqual(
    ownHive.window('ada', 0, never).messages.map((row) => row.read),
    [true, true],
  );
});
