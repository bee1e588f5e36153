import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactly, formatIso } from '../model/index.ts';
import { type Clock, realClock, silentLog } from '../ports/index.ts';
import { type Database, migrate, openDatabase } from '../state/index.ts';
import { openItems, openLocalHive } from './index.ts';
import { INBOX_SCHEMA } from './schema.ts';

const START = 1_750_000_000_000;
const never = new AbortController().signal;
const clock: Clock = { ...realClock, now: () => START + 1000 };

/** As version 1 wrote it. */
function sendV1(db: Database, persona: string, content: string, urgent: boolean, read: boolean): number {
  return db
    .prepare('INSERT INTO inbox (persona, from_, content, urgent, created, read_at) VALUES (?, ?, ?, ?, ?, ?)')
    .run(persona, 'zoe', content, urgent ? 1 : 0, START, read ? START + 1 : null).lastInsertRowid;
}

test('a database of version 1 keeps its mail, ids, counts and what was read', async () => {
  using db = openDatabase(':memory:');
  migrate(db, 'inbox', INBOX_SCHEMA.slice(0, 1));
  sendV1(db, 'ada', 'one\0é😀', false, true);
  sendV1(db, 'ada', 'two', true, false);
  sendV1(db, 'bo', 'three', false, false);
  sendV1(db, 'bo', 'four', false, false);
  db.exec('DELETE FROM inbox WHERE seq = 4');
  const uuid = db.prepare<{ uuid: string }>('SELECT uuid FROM inbox WHERE seq = 2').get()?.uuid;
  const asked = 'SELECT name, created, last_id, rev, unread, urgent FROM personas';
  const before = db.prepare(asked).all();

  using hive = openLocalHive({ db, clock, log: silentLog, contentChars: 220 });
  assert.deepEqual(db.prepare(asked).all(), before);
  const row = { from: 'zoe', created: formatIso(START) };
  assert.deepEqual(hive.window('ada', 0, never), {
    messages: [
      { ...row, id: 1, content: 'one\0é😀', read: true },
      { ...row, id: 2, content: 'two', read: false },
    ],
    max: 2,
    unread: exactly(1),
    urgent: exactly(1),
  });
  assert.deepEqual(
    hive.items.list('ada', 'all', 9).map(({ type, priority, read, delivered }) => [type, priority, read, delivered]),
    [
      ['mail', 2, START + 1, null],
      ['mail', 1, null, null],
    ],
  );
  assert.equal(hive.items.list('ada', 'all', 1)[0]?.dedupKey, `mail:${uuid}`);
  assert.deepEqual(hive.items.pending('ada', null), [0, 1, 0, 0, 0], 'what was read is not pending');
  assert.equal(hive.sendNow({ to: 'bo', from: 'zoe', content: '', urgent: false }).id, 5, 'an id is never used again');
});

test('ids go on also when all the mail of version 1 had been deleted', () => {
  using db = openDatabase(':memory:');
  migrate(db, 'inbox', INBOX_SCHEMA.slice(0, 1));
  for (let i = 0; i < 3; i += 1) sendV1(db, 'ada', 'text', false, true);
  db.exec('DELETE FROM inbox');
  using hive = openLocalHive({ db, clock, log: silentLog, contentChars: 220 });
  assert.equal(hive.window('ada', 0, never).max, 3);
  assert.equal(hive.sendNow({ to: 'ada', from: 'zoe', content: '', urgent: false }).id, 4);
});

test('C1 given a database of version 2, a key that somebody planted among those of Hivebar is renamed', () => {
  using db = openDatabase(':memory:');
  migrate(db, 'inbox', INBOX_SCHEMA.slice(0, 2));
  const insert = db.prepare(
    `INSERT INTO inbox (persona, type, from_, priority, urgent, session, created, dedup_key, content)
     VALUES (?, 'event', 'ci', 3, 0, 's1', ?, ?, 'text')`,
  );
  insert.run('ada', START, 'hivebar:decision:1');
  insert.run('', START, 'k');
  const items = openItems({ db, clock });
  assert.deepEqual(
    items
      .list('ada', 'pending', 9)
      .map(({ id, dedupKey, origin, session, priority }) => [id, dedupKey, origin, session, priority]),
    [
      [1, 'foreign:hivebar:decision:1', null, 's1', 3],
      [2, 'k', null, 's1', 3],
    ],
  );
  const fields = { type: 'decision', source: 'operator', content: 'x', priority: 1, session: null } as const;
  const own = { ...fields, persona: 'ada', key: 'decision:1', created: START, expires: null };
  assert.equal(items.pushOwn(own).isNew, true);
});

test('a process of before that still runs goes on sending, and its urgent mail is urgent', () => {
  using db = openDatabase(':memory:');
  migrate(db, 'inbox', INBOX_SCHEMA.slice(0, 1));
  const insert = db.prepare(
    'INSERT INTO inbox (persona, from_, content, urgent, created, read_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  insert.run('ada', 'zoe', 'before', 0, START, null);
  const items = openItems({ db, clock });
  insert.run('ada', 'zoe', 'after', 1, START, null);
  insert.run('ada', 'zoe', 'after', 0, START, null);
  assert.deepEqual(
    items.list('ada', 'pending', 9).map(({ id, priority }) => [id, priority]),
    [
      [1, 2],
      [2, 1],
      [3, 2],
    ],
  );
});
