import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { exactly } from '../model/index.ts';
import { type Log, silentLog } from '../ports/index.ts';
import { type Database, migrate, openDatabase } from '../state/index.ts';
import { type LevelTracker, openLevelTracker } from './levels.ts';
import { INBOX_SCHEMA } from './schema.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-levels-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

let made = 0;
function freshPath(): string {
  made += 1;
  return join(home, `${made}.sqlite`);
}

function openMail(path = ':memory:'): Database {
  const db = openDatabase(path);
  migrate(db, 'inbox', INBOX_SCHEMA);
  return db;
}

function bookOn(db: Database, clock: FakeClock = fakeClock(), log: Log = silentLog): LevelTracker {
  return openLevelTracker(db, clock, log);
}

function send(db: Database, persona: string, { urgent = false, read = false } = {}): void {
  db.prepare('INSERT INTO inbox (persona, from_, content, urgent, created, read_at) VALUES (?, ?, ?, ?, ?, ?)').run(
    persona,
    'zoe',
    'text',
    urgent ? 1 : 0,
    1,
    read ? 1 : null,
  );
}

function read(db: Database, persona: string): void {
  db.prepare('UPDATE inbox SET read_at = 2 WHERE persona = ? AND read_at IS NULL').run(persona);
}

/** What `all` is to say of unread mail, by the plainest query there is: name, unread, urgent. */
function plainly(db: Database): readonly (readonly [string, number, number])[] {
  return db
    .prepare<{ persona: string; unread: number; urgent: number }>(
      'SELECT persona, count(*) AS unread, sum(urgent) AS urgent FROM inbox WHERE read_at IS NULL GROUP BY persona ORDER BY persona',
    )
    .all()
    .map(({ persona, unread, urgent }) => [persona, unread, urgent]);
}

function shown(book: LevelTracker): readonly (readonly [string, unknown, unknown])[] {
  return [...book.all().byAddress].map(([name, { unread, urgent }]) => [name, unread, urgent] as const).sort();
}

const counted = (levels: ReturnType<typeof plainly>) =>
  levels.map(([name, unread, urgent]) => [name, exactly(unread), exactly(urgent)]);

const nobodyFirst = (): void => {};
const going = new AbortController().signal;
const MINUTE = 60_000;

describe('a notice', () => {
  test('tells each persona that changed once, whatever connection changed it and however often', () => {
    const path = freshPath();
    using ownDb = openMail(path);
    using otherDb = openMail(path);
    send(ownDb, 'cy');
    using book = bookOn(ownDb);
    const reported: string[] = [];
    using _ = book.listen((persona) => reported.push(persona));
    send(ownDb, 'ada');
    send(otherDb, 'bo', { urgent: true });
    send(otherDb, 'ada');
    send(ownDb, 'ada');
    read(otherDb, 'cy');
    assert.deepEqual([...book.notice(nobodyFirst)].sort(), ['ada', 'bo', 'cy']);
    assert.deepEqual(reported.sort(), ['ada', 'bo', 'cy']);
    assert.deepEqual(book.notice(nobodyFirst), []);
    assert.equal(reported.length, 3);
  });

  test('tells nothing of what changed before the book was opened', () => {
    using db = openMail();
    send(db, 'ada');
    using book = bookOn(db);
    assert.deepEqual(book.notice(nobodyFirst), []);
    send(db, 'bo');
    assert.deepEqual(book.notice(nobodyFirst), ['bo']);
  });

  test('tells of mail that came read, which changes no count', () => {
    using db = openMail();
    using book = bookOn(db);
    send(db, 'ada', { read: true });
    assert.deepEqual(book.notice(nobodyFirst), ['ada']);
    assert.deepEqual(shown(book), []);
  });

  test('is for `first` of every persona before any listener hears of one', () => {
    using db = openMail();
    using book = bookOn(db);
    const heard: string[] = [];
    using _ = book.listen((persona) => heard.push(`listener ${persona}`));
    send(db, 'ada');
    send(db, 'bo');
    book.notice((persona) => heard.push(`first ${persona}`));
    assert.deepEqual(heard, ['first ada', 'first bo', 'listener ada', 'listener bo']);
  });

  test('finds the new counts in place when a listener asks for them', () => {
    using db = openMail();
    using book = bookOn(db);
    book.all();
    const heard: unknown[] = [];
    using _ = book.listen((persona) => heard.push(book.readLevel(persona), book.all().byAddress.get(persona)));
    send(db, 'ada', { urgent: true });
    book.notice(nobodyFirst);
    const level = { unread: exactly(1), urgent: exactly(1) };
    assert.deepEqual(heard, [level, level]);
  });

  test('is heard by the others, and ends holds, when a listener throws; that is logged with its persona', async () => {
    using db = openMail();
    const errors: unknown[] = [];
    const clock = fakeClock();
    using book = bookOn(db, clock, { ...silentLog, error: (line, about) => errors.push([line, about]) });
    const heard: string[] = [];
    using _before = book.listen((persona) => heard.push(`before ${persona}`));
    using _bad = book.listen((persona) => {
      throw new Error(`no ${persona}`);
    });
    using _after = book.listen((persona) => heard.push(`after ${persona}`));
    const hold = book.untilPast(book.all().cursor, MINUTE, going);
    send(db, 'ada');
    send(db, 'bo');
    assert.deepEqual(book.notice(nobodyFirst), ['ada', 'bo']);
    assert.deepEqual(heard, ['before ada', 'after ada', 'before bo', 'after bo']);
    const line = 'a listener of the local hive failed';
    assert.deepEqual(errors, [
      [line, { persona: 'ada', error: 'Error: no ada' }],
      [line, { persona: 'bo', error: 'Error: no bo' }],
    ]);
    await hold;
    assert.equal(clock.waiting, 0);
  });

  test('is heard first by who only passes it on, whenever it came', () => {
    using db = openMail();
    using book = bookOn(db);
    const heard: string[] = [];
    using _early = book.listen((persona) => heard.push(`stores ${persona}`));
    {
      using _late = book.listen((persona) => heard.push(`passes on ${persona}`), 'first');
      send(db, 'ada');
      book.notice(nobodyFirst);
    }
    send(db, 'bo');
    book.notice(nobodyFirst);
    assert.deepEqual(heard, ['passes on ada', 'stores ada', 'stores bo']);
  });

  test('given by a listener that changes an inbox itself tells that change alone', () => {
    using db = openMail();
    using book = bookOn(db);
    const heard: string[] = [];
    using _ = book.listen((persona) => {
      heard.push(persona);
      if (persona !== 'ada') return;
      send(db, 'bo');
      assert.deepEqual(book.notice(nobodyFirst), ['bo']);
    });
    send(db, 'ada');
    assert.deepEqual(book.notice(nobodyFirst), ['ada']);
    assert.deepEqual(heard, ['ada', 'bo']);
    assert.deepEqual(book.notice(nobodyFirst), []);
  });

  test('is not for a listener that left, nor for one when the book is closed', () => {
    using db = openMail();
    const book = bookOn(db);
    const heard: string[] = [];
    const left = book.listen(() => heard.push('left'));
    book.listen(() => heard.push('stayed'));
    left[Symbol.dispose]();
    send(db, 'ada');
    book.notice(nobodyFirst);
    assert.deepEqual(heard, ['stayed']);
    book[Symbol.dispose]();
    send(db, 'ada');
    book.notice(nobodyFirst);
    assert.deepEqual(heard, ['stayed']);
  });
});

describe('the counts', () => {
  test('are right when they were asked for before a change, between it and its notice, and after', () => {
    using db = openMail();
    using book = bookOn(db);
    send(db, 'ada');
    assert.deepEqual(shown(book), [['ada', exactly(1), exactly(0)]]); // the first look, before any notice
    send(db, 'ada', { urgent: true });
    send(db, 'bo');
    book.notice(nobodyFirst); // counted, then changed, then noticed
    assert.deepEqual(shown(book), counted(plainly(db)));
    read(db, 'bo');
    assert.deepEqual(shown(book), counted(plainly(db))); // between the change and its notice
    send(db, 'cy', { urgent: true });
    book.notice(nobodyFirst); // the first change was counted, the second was not
    assert.deepEqual(shown(book), [
      ['ada', exactly(2), exactly(1)],
      ['cy', exactly(1), exactly(1)],
    ]);
  });

  test('that were given are not changed afterwards', () => {
    using db = openMail();
    using book = bookOn(db);
    send(db, 'ada');
    const before = book.all();
    send(db, 'ada');
    read(db, 'ada');
    book.notice(nobodyFirst);
    book.all();
    assert.deepEqual([...before.byAddress], [['ada', { unread: exactly(1), urgent: exactly(0) }]]);
  });

  test('of one persona are those of now, without a notice; who has no mail, or never had any, has 0', () => {
    using db = openMail();
    using book = bookOn(db);
    const none = { unread: exactly(0), urgent: exactly(0) };
    assert.deepEqual(book.readLevel('ada'), none);
    send(db, 'ada', { urgent: true });
    assert.deepEqual(book.readLevel('ada'), { unread: exactly(1), urgent: exactly(1) });
    book.all();
    send(db, 'ada');
    assert.deepEqual(book.readLevel('ada'), { unread: exactly(2), urgent: exactly(1) });
    read(db, 'ada');
    assert.deepEqual(book.readLevel('ada'), none);
    assert.equal(book.all().byAddress.has('ada'), false);
  });

  test('say when they were taken', async () => {
    using db = openMail();
    const clock = fakeClock();
    using book = bookOn(db, clock);
    const { at } = book.all();
    assert.equal(at, clock.now());
    await clock.advance(5);
    assert.equal(book.all().at, at + 5);
  });
});

describe('the cursor', () => {
  test('stays while nothing changes, and is another after each change', () => {
    using db = openMail();
    using book = bookOn(db);
    const seen = new Set<string>();
    const changes = [
      () => {},
      () => send(db, 'ada'),
      () => send(db, 'ada', { urgent: true }),
      () => send(db, 'bo', { read: true }),
      () => read(db, 'ada'),
      () => send(db, 'bo'),
      () => db.exec('DELETE FROM inbox WHERE read_at IS NULL'),
    ];
    for (const change of changes) {
      change();
      const { cursor } = book.all();
      assert.equal(book.all().cursor, cursor);
      book.notice(nobodyFirst);
      assert.equal(book.all().cursor, cursor);
      seen.add(cursor);
    }
    assert.equal(seen.size, changes.length);
  });

  test('names the same state in another process and after a restart', async () => {
    const path = freshPath();
    let cursor: string;
    {
      using db = openMail(path);
      using book = bookOn(db);
      book.all();
      send(db, 'ada');
      send(db, 'bo');
      book.notice(nobodyFirst);
      cursor = book.all().cursor;
      using otherDb = openMail(path);
      using other = bookOn(otherDb);
      assert.equal(other.all().cursor, cursor);
    }
    using db = openMail(path);
    const clock = fakeClock();
    using book = bookOn(db, clock);
    assert.equal(book.all().cursor, cursor);
    const hold = book.untilPast(cursor, MINUTE, going);
    assert.equal(clock.waiting, 1);
    await clock.advance(MINUTE);
    await hold;
  });
});

describe('a hold', () => {
  test('on a state that was read before it was noticed goes on: its reader knows of it', async () => {
    using db = openMail();
    const clock = fakeClock();
    using book = bookOn(db, clock);
    book.all();
    send(db, 'ada');
    const { cursor } = book.all();
    const hold = book.untilPast(cursor, MINUTE, going);
    assert.deepEqual(book.notice(nobodyFirst), ['ada']);
    assert.equal(clock.waiting, 1, 'it is still held');
    send(db, 'bo');
    book.notice(nobodyFirst);
    await hold;
    assert.equal(clock.waiting, 0);
  });

  /** A book with one unread mail, and what became of a hold on it. */
  function held(path?: string) {
    const db = openMail(path);
    const clock = fakeClock();
    const book = bookOn(db, clock);
    send(db, 'ada');
    book.notice(nobodyFirst);
    const { cursor } = book.all();
    const state = { ended: false };
    const hold = (ms: number, signal: AbortSignal = going, from = cursor): void => {
      void book.untilPast(from, ms, signal).then(() => {
        state.ended = true;
      });
    };
    const close = (): void => {
      book[Symbol.dispose]();
      db[Symbol.dispose]();
    };
    return { db, clock, book, cursor, state, hold, [Symbol.dispose]: close };
  }

  test('ends with the notice of a change, also of one from elsewhere', async () => {
    const path = freshPath();
    using otherDb = openMail(path);
    for (const by of ['us', 'them']) {
      using pending = held(path);
      pending.hold(MINUTE);
      await pending.clock.advance(MINUTE - 1);
      assert.equal(pending.book.notice(nobodyFirst).length, 0);
      await pending.clock.advance(0);
      assert.equal(pending.state.ended, false);
      read(by === 'us' ? pending.db : otherDb, 'ada');
      pending.book.notice(nobodyFirst);
      await pending.clock.advance(0);
      assert.equal(pending.state.ended, true);
      assert.equal(pending.clock.waiting, 0);
    }
  });

  test('ends after its time, and not before', async () => {
    using pending = held();
    pending.hold(MINUTE);
    await pending.clock.advance(MINUTE - 1);
    assert.equal(pending.state.ended, false);
    await pending.clock.advance(1);
    assert.equal(pending.state.ended, true);
    assert.equal(pending.clock.waiting, 0);
  });

  test('ends on abort, without a rejection', async () => {
    using pending = held();
    const abort = new AbortController();
    pending.hold(MINUTE, abort.signal);
    await pending.clock.advance(1);
    assert.equal(pending.state.ended, false);
    abort.abort(new Error('the client went away'));
    await pending.clock.advance(0);
    assert.equal(pending.state.ended, true);
    assert.equal(pending.clock.waiting, 0);
  });

  test('ends when the book is closed', async () => {
    using pending = held();
    pending.hold(MINUTE);
    pending.book[Symbol.dispose]();
    await pending.clock.advance(0);
    assert.equal(pending.state.ended, true);
    assert.equal(pending.clock.waiting, 0);
  });

  test('leaves nothing on the signal of who asked, however it ended', async () => {
    using pending = held();
    const { signal } = new AbortController();
    pending.hold(MINUTE, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 1);
    await pending.clock.advance(MINUTE);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    pending.hold(MINUTE, signal);
    send(pending.db, 'ada');
    pending.book.notice(nobodyFirst);
    await pending.clock.advance(0);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('does not begin when its state is past, even by a change from elsewhere that is not noticed yet', async () => {
    const path = freshPath();
    using pending = held(path);
    using otherDb = openMail(path);
    send(otherDb, 'bo');
    pending.hold(MINUTE);
    assert.equal(pending.clock.waiting, 0);
    await pending.clock.advance(0);
    assert.equal(pending.state.ended, true);
  });

  test('does not begin for no time, for a signal that is aborted, or for a cursor nobody gave', async () => {
    for (const [ms, signal, cursor] of [
      [0, going, null],
      [-1, going, null],
      [MINUTE, AbortSignal.abort(), null],
      [MINUTE, going, 'from another life'],
      [MINUTE, going, ''],
    ] as const) {
      using pending = held();
      pending.hold(ms, signal, cursor ?? pending.cursor);
      assert.equal(pending.clock.waiting, 0);
      await pending.clock.advance(0);
      assert.equal(pending.state.ended, true);
    }
  });

  test('is one of many: each ends for its own reason', async () => {
    using pending = held();
    const ended: string[] = [];
    const abort = new AbortController();
    const hold = (label: string, ms: number, signal: AbortSignal): void =>
      void pending.book.untilPast(pending.cursor, ms, signal).then(() => ended.push(label));
    hold('short', 10, going);
    hold('aborted', MINUTE, abort.signal);
    hold('woken', MINUTE, going);
    await pending.clock.advance(10);
    assert.deepEqual(ended, ['short']);
    abort.abort();
    await pending.clock.advance(0);
    assert.deepEqual(ended, ['short', 'aborted']);
    send(pending.db, 'bo');
    pending.book.notice(nobodyFirst);
    await pending.clock.advance(0);
    assert.deepEqual(ended, ['short', 'aborted', 'woken']);
    assert.equal(pending.clock.waiting, 0);
  });
});

type Act =
  | {
      readonly is: 'send';
      readonly to: string;
      readonly urgent: boolean;
      readonly read: boolean;
      readonly here: boolean;
    }
  | { readonly is: 'read' | 'delete'; readonly name: string; readonly here: boolean }
  | { readonly is: 'all' | 'notice' };

const name = fc.constantFrom('ada', 'bo', 'cy');
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    is: fc.constant('send' as const),
    to: name,
    urgent: fc.boolean(),
    read: fc.boolean(),
    here: fc.boolean(),
  }),
  fc.record({ is: fc.constantFrom('read' as const, 'delete' as const), name, here: fc.boolean() }),
  fc.record({ is: fc.constantFrom('all' as const, 'notice' as const) }),
);

test('whatever is sent, read or deleted, here or elsewhere, counts are those of the table and a notice names who changed', () => {
  // Not on a disk that is asked to flush: what is tested is who sees what, and when.
  const quick = (path: string): Database => {
    const db = openMail(path);
    db.exec('PRAGMA synchronous = OFF');
    return db;
  };
  fc.assert(
    fc.property(fc.array(act, { maxLength: 30, size: 'max' }), (acts) => {
      const path = freshPath();
      using ownDb = quick(path);
      using otherDb = quick(path);
      using book = bookOn(ownDb);
      const reported: string[] = [];
      using _ = book.listen((persona) => reported.push(persona));
      const changed = new Set<string>();
      for (const action of acts) {
        switch (action.is) {
          case 'send':
            send(action.here ? ownDb : otherDb, action.to, action);
            changed.add(action.to);
            break;
          case 'read':
          case 'delete': {
            if (plainly(ownDb).some(([persona]) => persona === action.name)) changed.add(action.name);
            const by = action.here ? ownDb : otherDb;
            if (action.is === 'read') read(by, action.name);
            else by.prepare('DELETE FROM inbox WHERE persona = ?').run(action.name);
            break;
          }
          case 'all':
            assert.deepEqual(shown(book), counted(plainly(ownDb)));
            break;
          case 'notice': {
            reported.length = 0;
            const names = book.notice(nobodyFirst);
            assert.deepEqual([...names].sort(), [...changed].sort());
            assert.deepEqual(reported, names);
            changed.clear();
          }
        }
      }
      assert.deepEqual(shown(book), counted(plainly(ownDb)));
      for (const [persona, unread, urgent] of plainly(ownDb)) {
        assert.deepEqual(book.readLevel(persona), { unread: exactly(unread), urgent: exactly(urgent) });
      }
    }),
    { numRuns: 150 },
  );
});
