import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { newItem } from '../../test/kit/new-item.ts';
import { exactly, Fault } from '../model/index.ts';
import { type Clock, realClock, silentLog } from '../ports/index.ts';
import { type Database, openDatabase } from '../state/index.ts';
import { type Items, type LeaseRequest, type NewItem, openItems, openLocalHive } from './index.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-items-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

let made = 0;
function freshPath(): string {
  made += 1;
  return join(home, `${made}`, 'hivebar.sqlite');
}

const going = new AbortController().signal;
const START = 1_750_000_000_000;

/** Items in memory, with a clock that is set by hand. */
function rig() {
  const time = { now: START };
  const clock: Clock = { ...realClock, now: () => time.now };
  const db = openDatabase(':memory:');
  const hive = openLocalHive({ db, clock, log: silentLog, contentChars: 220 });
  return { time, db, hive, items: hive.items };
}

const item = (more: Partial<NewItem> = {}): NewItem => newItem({ created: START, ...more });

const toAll = { to: { is: 'everyone' as const } };
const ask: LeaseRequest = { persona: 'ada', session: null, upTo: 4, most: 20, forMs: 30_000 };
const listIds = (rows: readonly { readonly id: number }[]): number[] => rows.map((entry) => entry.id);

/** The database, failing at the next commit while `failing` is set, and telling how each commit reached the disk. */
function watched(db: Database): Database & { failing: boolean; readonly commits: string[] } {
  let synchronous = 'FULL';
  return {
    ...db,
    failing: false,
    commits: [],
    get isTransaction() {
      return db.isTransaction;
    },
    exec(sql) {
      synchronous = /^PRAGMA synchronous = (\w+)$/.exec(sql)?.[1] ?? synchronous;
      if (sql === 'COMMIT' && this.failing) throw new Fault('no-space', 'full', { is: 'machine', key: 'database' });
      if (sql === 'COMMIT') this.commits.push(synchronous);
      db.exec(sql);
    },
  };
}

describe('what is pushed', () => {
  test('is kept with everything it has, and is mail of the inbox', () => {
    const { items, hive } = rig();
    const whole = item({
      type: 'alert',
      priority: 1,
      session: 's1',
      created: START - 5,
      expires: START + 9,
      dedupKey: 'alert:1',
    });
    assert.deepEqual(items.push([whole]), [{ id: 1, dedupKey: 'alert:1', isNew: true }]);
    const { to: _, ...rest } = whole;
    assert.deepEqual(items.list('ada', 'all', 9), [
      { ...rest, id: 1, persona: 'ada', isBroadcast: false, origin: null, read: null, delivered: null },
    ]);
    assert.deepEqual(hive.show('ada', 1), {
      id: 1,
      from: 'ci',
      content: 'text',
      created: '2025-06-15T15:06:39.995000+00:00',
      read: false,
      to: 'ada',
      urgent: true,
    });
  });

  test('seed 4, 5: under a key that is there already is not stored again, within a push and later', () => {
    const { items } = rig();
    const batch = [item({ dedupKey: 'k', content: 'first' }), item({ dedupKey: 'k', content: 'second' })];
    assert.deepEqual(items.push(batch), [
      { id: 1, dedupKey: 'k', isNew: true },
      { id: 1, dedupKey: 'k', isNew: false },
    ]);
    assert.equal(items.push(batch)[0]?.isNew, false);
    assert.equal(items.list('ada', 'all', 9)[0]?.content, 'first');
  });

  test('A6 given a key, one persona has it once, as an item of its own or by a broadcast, whoever pushes it', () => {
    for (const key of ['k', 'k'.repeat(500)]) {
      const { items } = rig();
      const createFor = (name: string, content: string) =>
        item({ dedupKey: key, to: { is: 'persona', name }, content });
      const batch = [
        createFor('ada', 'first'),
        createFor('bo', 'second'),
        createFor('ada', 'again'),
        createFor('bo', 'again'),
      ];
      const pushed = items.push(batch);
      assert.deepEqual(
        pushed.map(({ id, isNew }) => [id, isNew]),
        [
          [1, true],
          [2, true],
          [1, false],
          [2, false],
        ],
        'what bo has under the key is another item, and lost for nobody',
      );
      assert.ok(pushed.every(({ dedupKey }) => dedupKey === key));
      assert.ok(items.push(batch).every(({ isNew }) => !isNew));
      const contents = (name: string) => items.list(name, 'all', 9).map((entry) => entry.content);
      assert.deepEqual([contents('ada'), contents('bo')], [['first'], ['second']]);
      items.push([item({ ...toAll, dedupKey: 'all' })]);
      assert.equal(items.push([item({ dedupKey: 'all' })])[0]?.isNew, false, 'ada has it by the broadcast');
    }
  });

  test('A6 given an item that expired and nobody saw, its key is free; one that was shown or read keeps it', () => {
    const { items, time } = rig();
    const push = (more: Partial<NewItem> = {}) =>
      items.push([item({ dedupKey: 'k', created: time.now, expires: time.now + 1000, ...more })])[0];
    const first = push();
    assert.equal(push()?.isNew, false);
    time.now += 2000;
    const second = push({ content: 'second' });
    assert.equal(second?.isNew, true);
    assert.notEqual(second?.id, first?.id);
    assert.deepEqual(
      items.list('ada', 'pending', 9).map(({ content, dedupKey }) => [content, dedupKey]),
      [['second', 'k']],
    );
    const lease = items.lease({ persona: 'ada', session: null, upTo: 4, most: 9, forMs: 100 });
    items.markDelivered(lease, [second?.id ?? 0]);
    time.now += 2000;
    assert.equal(push()?.isNew, false, 'it expired, and was shown');
    assert.equal(items.push([item({ ...toAll, dedupKey: 'all', expires: time.now + 10 })])[0]?.isNew, true);
    time.now += 20;
    assert.equal(items.push([item({ ...toAll, dedupKey: 'all' })])[0]?.isNew, true, 'a broadcast that expired');
    assert.equal(items.push([item({ ...toAll, dedupKey: 'all' })])[0]?.isNew, false);
  });

  test('C3 given an item or a broadcast of its own, a persona has read it: it neither waits nor wakes', () => {
    const { items, hive } = rig();
    items.push([item({ source: 'Ada', priority: 0 }), item({ ...toAll, source: 'bo', priority: 0 })]);
    assert.deepEqual(items.pending('ada', null), [1, 0, 0, 0, 0], 'the broadcast of bo, not what ada said to herself');
    items.push([item({ ...toAll, source: 'ADA', priority: 1 })]);
    assert.deepEqual(items.pending('ada', null), [1, 0, 0, 0, 0]);
    items.push([item({ to: { is: 'persona', name: 'bo' }, priority: 3 })]);
    assert.deepEqual(
      items.pending('bo', null),
      [0, 1, 0, 1, 0],
      'bo appeared after his own broadcast, and has read it',
    );
    assert.equal(items.lease({ persona: 'ada', session: null, upTo: 4, most: 9, forMs: 1 }).items.length, 1);
    assert.deepEqual(hive.window('bo', null, going).unread, exactly(2));
  });

  test('C1 given what others push, nobody can take the place of what Hivebar itself says', () => {
    const { items, db } = rig();
    for (const dedupKey of ['hivebar:decision:1', 'HiveBar:decision:1', 'hivebar:']) {
      assert.throws(() => items.push([item({ dedupKey })]), { code: 'usage', message: /must not begin with hivebar:/ });
    }
    items.push([item({ dedupKey: 'decision:1', content: 'Chosen: deploy', type: 'decision', source: 'operator' })]);
    const { dedupKey: _, to: __, ...fields } = item({ type: 'decision', source: 'operator', content: 'Chosen: hold' });
    const own = { ...fields, persona: 'ada', key: 'decision:1' };
    assert.deepEqual(items.pushOwn(own), { id: 2, dedupKey: 'hivebar:decision:1', isNew: true });
    assert.equal(items.pushOwn(own).isNew, false, 'the same again, as after a crash');
    assert.throws(() => items.pushOwn({ ...own, content: 'Chosen: deploy' }), {
      code: 'internal',
      message: /item 2 already has the key hivebar:decision:1, with different content/,
    });
    assert.throws(() => items.pushOwn({ ...own, persona: 'bo' }), { code: 'database' }, 'an answer is there once');
    assert.deepEqual(
      items.list('ada', 'pending', 9).map(({ content, origin }) => [content, origin]),
      [
        ['Chosen: deploy', null],
        ['Chosen: hold', 'hivebar'],
      ],
    );
    const forge =
      "INSERT INTO inbox (persona, from_, urgent, created, dedup_key, content) VALUES ('ada', 'x', 0, 1, ?, 'x')";
    assert.throws(() => db.prepare(forge).run('hivebar:decision:2'), /CHECK/);
  });

  test('inbox-gates 8.5: two messages of one source in one millisecond are both kept', () => {
    const { items } = rig();
    const pushed = items.push(Array.from({ length: 500 }, () => item()));
    assert.equal(new Set(pushed.map((result) => result.dedupKey)).size, 500);
    assert.equal(items.list('ada', 'pending', 1000).length, 500);
    assert.match(pushed[0]?.dedupKey ?? '', /^event:[0-9a-f]{11}:[0-9a-f]{16}$/);
  });

  test('inbox-gates 8.6: an item of any type may be critical, and says so when it is shown', () => {
    const { items } = rig();
    const types = ['decision', 'alert', 'event', 'agent', 'mail', 'gate', 'system'] as const;
    items.push(types.map((type) => item({ type, priority: 0 })));
    assert.deepEqual(items.pending('ada', null), [7, 0, 0, 0, 0]);
    assert.deepEqual(
      items.lease({ ...ask, upTo: 0 }).items.map((entry) => [entry.type, entry.priority]),
      types.map((type) => [type, 0]),
    );
  });

  test('of priority 0 and 1 is urgent mail, else it is not', async () => {
    const { items, hive } = rig();
    items.push(([0, 1, 2, 3, 4] as const).map((priority) => item({ priority })));
    assert.deepEqual((await hive.pending(null, going)).byAddress.get('ada'), {
      unread: exactly(5),
      urgent: exactly(2),
    });
    hive.sendNow({ to: 'ada', from: 'zoe', content: 'now', urgent: true });
    hive.sendNow({ to: 'ada', from: 'zoe', content: 'later', urgent: false });
    assert.deepEqual(
      items.list('ada', 'all', 2).map(({ type, source, priority }) => [type, source, priority]),
      [
        ['mail', 'zoe', 1],
        ['mail', 'zoe', 2],
      ],
    );
  });

  test('is told to who listens in this process', () => {
    const { items, hive } = rig();
    const woken: string[] = [];
    using _ = hive.hints((address) => woken.push(address));
    items.push([item(), item({ to: { is: 'persona', name: 'bo' } })]);
    items.push([item(toAll)]);
    const lease = items.lease(ask);
    assert.deepEqual(woken.sort(), ['ada', 'ada', 'bo', 'bo']);
    items.markDelivered(lease, [1]);
    assert.deepEqual(woken.sort(), ['ada', 'ada', 'ada', 'bo', 'bo']);
  });

  test('by another process in the same turn is in the window that says how far the inbox goes', () => {
    const path = freshPath();
    using ownDb = openDatabase(path);
    using otherDb = openDatabase(path);
    const hive = openLocalHive({ db: ownDb, clock: realClock, log: silentLog, contentChars: 220 });
    hive.items.push([item()]);
    assert.deepEqual([hive.window('ada', 0, going).max, hive.window('ada', 1, going).messages], [1, []]);
    openItems({ db: otherDb, clock: realClock }).push([item()]);
    const { max, messages: rows } = hive.window('ada', 1, going);
    assert.deepEqual([max, listIds(rows)], [2, [2]]);
  });

  const refused: [string, Partial<NewItem>, RegExp][] = [
    ['a type there is not', { type: 'nudge' as never }, /"type" must be one of decision, .*, not "nudge"/],
    ['a priority there is not', { priority: 5 as never }, /"priority" must be 0, 1, 2, 3 or 4, not 5/],
    ['a blank receiver', { to: { is: 'persona', name: '' } }, /"to" must be a name, not ""/],
    ['a source with a line break', { source: 'a\nb' }, /"source" must not contain control characters/],
    ['a broadcast for a session', { ...toAll, session: 's1' }, /a broadcast cannot be for one session: .*, not "s1"/],
    ['an empty key', { dedupKey: '' }, /"dedupKey" must be text of 1 to 500 characters, not ""/],
    ['an expiry that is no time', { expires: Number.NaN }, /"expires" must be a time in milliseconds/],
    ['text of more than 1 MiB', { content: 'x'.repeat(1024 * 1024 + 1) }, /"content" may have 1048576 bytes at most/],
  ];
  for (const [label, more, message] of refused) {
    test(`is refused whole for ${label}`, () => {
      const { items, hive } = rig();
      assert.throws(
        () => items.push([item(), item(more)]),
        (error) => {
          assert.ok(error instanceof Fault && error.code === 'usage');
          assert.match(error.message, message);
          return true;
        },
      );
      assert.deepEqual(hive.personas(), []);
    });
  }
});

describe('a lease', () => {
  test('seed 20: goes by priority, then time, then id', () => {
    const { items } = rig();
    items.push([
      item({ priority: 2, created: START + 2 }),
      item({ priority: 2, created: START + 1 }),
      item({ ...toAll, priority: 2, created: START + 1 }),
      item({ priority: 4, created: START }),
      item({ priority: 1, created: START + 9, session: 's1' }),
      item({ priority: 1, created: START, session: 's2' }),
    ]);
    assert.deepEqual(listIds(items.lease({ ...ask, session: 's1' }).items), [5, 2, 3, 1, 4]);
  });

  test('inbox-gates 8.7, seed 12: 20 at most cuts nothing that is critical', () => {
    const { items } = rig();
    items.push(Array.from({ length: 25 }, () => item()));
    items.push(Array.from({ length: 19 }, () => item({ priority: 0 })));
    const firstLease = items.lease(ask);
    assert.deepEqual([firstLease.items.length, firstLease.left], [20, 24]);
    items.release(firstLease);
    items.push(Array.from({ length: 13 }, () => item({ priority: 0 })));
    const more = items.lease(ask);
    assert.deepEqual([more.items.length, more.left], [32, 25]);
    assert.deepEqual(new Set(more.items.map((each) => each.priority)), new Set([0]));
  });

  test('has what is urgent enough and no more, and says what is left of everything', () => {
    const { items } = rig();
    items.push(([0, 1, 2, 3, 4] as const).map((priority) => item({ priority })));
    const lease = items.lease({ ...ask, upTo: 1 });
    assert.deepEqual([listIds(lease.items), lease.left], [[1, 2], 3]);
  });

  test('counts what is left up to 1,000', () => {
    const { items } = rig();
    items.push(Array.from({ length: 1025 }, () => item()));
    assert.equal(items.lease({ ...ask, most: 20 }).left, 1000);
    assert.equal(items.lease({ ...ask, most: 20 }).left, 985);
  });

  test('inbox-gates 8.3a: nothing is delivered by being leased, and what was not shown comes back', () => {
    const { items, hive, time } = rig();
    items.push([item(), item(), item(toAll)]);
    const lost = items.lease(ask);
    assert.deepEqual(listIds(lost.items), [1, 2, 3]);
    assert.deepEqual(items.pending('ada', null), [0, 0, 0, 0, 0]);
    assert.deepEqual(items.list('ada', 'delivered', 9), []);
    assert.equal(hive.list('ada', 9).filter((row) => row.read).length, 0);
    time.now += 30_000; // whoever had it is gone
    const partly = items.lease(ask);
    assert.deepEqual(listIds(partly.items), [1, 2, 3]);
    items.markDelivered(partly, [3]);
    assert.deepEqual(listIds(items.list('ada', 'pending', 9)), [1, 2], 'at once, for they were not shown');
    items.release(items.lease(ask));
    assert.deepEqual(listIds(items.list('ada', 'pending', 9)), [1, 2]);
  });

  test('inbox-gates 8.3b: a mark that fails is told, and leaves what was leased to come back', () => {
    const db = watched(openDatabase(':memory:'));
    const time = { now: START };
    const items = openItems({ db, clock: { ...realClock, now: () => time.now } });
    items.push([item()]);
    const lease = items.lease(ask);
    db.failing = true;
    assert.throws(() => items.markDelivered(lease, [1]), /full/);
    db.failing = false;
    time.now += 30_001;
    assert.deepEqual(listIds(items.lease(ask).items), [1]);
  });

  test('that lapsed can still say what it showed, and frees nothing of who has it now', () => {
    const { items, time } = rig();
    items.push([item(), item()]);
    const slow = items.lease(ask);
    time.now += 30_000;
    const quick = items.lease(ask);
    items.markDelivered(slow, [1]);
    assert.deepEqual(items.pending('ada', null), [0, 0, 0, 0, 0], '2 is in the lease of the other');
    items.release(quick);
    assert.deepEqual(listIds(items.lease(ask).items), [2]);
  });

  test('a push is flushed to the disk, a lease and its end with the next push', () => {
    const db = watched(openDatabase(freshPath()));
    const items = openItems({ db, clock: realClock });
    db.commits.length = 0;
    items.push([item()]);
    items.markDelivered(items.lease(ask), [1]);
    items.release(items.lease(ask));
    items.push([item()]);
    assert.deepEqual(db.commits, ['FULL', 'NORMAL', 'NORMAL', 'NORMAL', 'FULL']);
  });
});

describe('read and delivered', () => {
  test('a peek changes neither, to read changes one, to deliver both', () => {
    const { items, hive, time } = rig();
    items.push([item(), item(), item(toAll)]);
    const marks = () => items.list('ada', 'all', 9).map((entry) => [entry.read, entry.delivered]);
    hive.inbox({ persona: 'ada', markRead: false, beforeId: null, limit: 9, unreadOnly: false });
    items.list('ada', 'pending', 9);
    assert.deepEqual(marks(), [
      [null, null],
      [null, null],
      [null, null],
    ]);
    time.now = START + 1;
    hive.markRead('ada', [1]);
    time.now = START + 2;
    items.markDelivered(items.lease(ask), [2, 3]);
    assert.deepEqual(marks(), [
      [START + 1, null],
      [START + 2, START + 2],
      [START + 2, START + 2],
    ]);
  });

  test('inbox-gates 8.13a: mail that was read meanwhile is not told of again', () => {
    const { items, hive } = rig();
    items.push([item({ priority: 0 }), item(), item(toAll)]);
    hive.inbox({ persona: 'ada', markRead: true, beforeId: null, limit: 2, unreadOnly: false });
    assert.deepEqual(items.pending('ada', null), [1, 0, 0, 0, 0]);
    assert.deepEqual(listIds(items.lease(ask).items), [1]);
  });

  test('inbox-gates 8.13c: what nobody will ever take does not get into the way of a drain', () => {
    const { items, time } = rig();
    items.push(Array.from({ length: 150 }, () => item({ priority: 0, expires: START + 10 })));
    items.push(Array.from({ length: 150 }, () => item({ priority: 0, session: 'gone' })));
    items.push([item({ priority: 4 })]);
    time.now += 10;
    assert.deepEqual(listIds(items.lease(ask).items), [301]);
    assert.equal(items.list('ada', 'all', 1000).length, 151, 'what expired is gone');
  });
});

describe('a broadcast', () => {
  test('inbox-gates 8.13e, seed 25: reaches everybody, and what one does with it is nobody else’s', async () => {
    const { items, hive } = rig();
    for (const name of ['ada', 'bo', 'cy']) hive.sendNow({ to: name, from: name, content: 'a note', urgent: false });
    const [{ id } = assert.fail()] = items.push([item({ ...toAll, priority: 1 })]);
    for (const name of ['ada', 'bo', 'cy']) {
      assert.deepEqual((await hive.pending(null, going)).byAddress.get(name), {
        unread: exactly(1),
        urgent: exactly(1),
      });
      assert.equal(hive.show(name, id)?.read, false);
      assert.equal(hive.window(name, id - 1, going).messages[0]?.id, id);
    }
    items.markDelivered(items.lease(ask), [id]);
    hive.markRead('bo', [id]);
    await null;
    assert.deepEqual([...(await hive.pending(null, going)).byAddress.keys()], ['cy']);
    assert.deepEqual(
      ['ada', 'bo', 'cy'].map((name) => hive.window(name, id - 1, going).messages[0]?.read),
      [true, true, false],
    );
    assert.deepEqual(listIds(items.lease({ ...ask, persona: 'cy' }).items), [id]);
    assert.deepEqual(listIds(items.lease({ ...ask, persona: 'bo' }).items), []);
  });

  test('seed 25: is there for who appears later, by mail or by asking, until it expires', async () => {
    const { items, hive, time } = rig();
    items.push([item({ ...toAll, expires: START + 100 }), item(toAll)]);
    assert.deepEqual(hive.personas(), []);
    assert.deepEqual(listIds(items.list('ada', 'pending', 9)), [1, 2]);
    assert.deepEqual(items.pending('ada', 's1'), [0, 0, 2, 0, 0]);
    assert.deepEqual(hive.personas(), [], 'to look creates nobody');
    time.now = START + 99;
    assert.deepEqual(listIds(items.lease(ask).items), [1, 2]);
    hive.sendNow({ to: 'bo', from: 'zoe', content: 'hello', urgent: false });
    time.now = START + 100;
    items.push([item({ to: { is: 'persona', name: 'cy' }, created: START })]);
    assert.deepEqual(
      ['ada', 'bo', 'cy', 'dee'].map((name) => listIds(items.list(name, 'all', 9))),
      [[1, 2], [1, 2, 3], [2, 4], [2]],
    );
    assert.deepEqual((await hive.pending(null, going)).byAddress.get('cy'), { unread: exactly(2), urgent: exactly(0) });
    assert.deepEqual(
      hive.personas().map((persona) => persona.name),
      ['ada', 'bo', 'cy'],
    );
  });
});

describe('what is over', () => {
  test('seed 8: is not shown from its expiry on, and is uncounted with the next look', async () => {
    const { items, hive, time } = rig();
    items.push([item({ expires: START + 10 }), item({ ...toAll, expires: START + 10 }), item()]);
    time.now = START + 10;
    assert.deepEqual(listIds(items.list('ada', 'pending', 9)), [3]);
    assert.deepEqual(items.pending('ada', null), [0, 0, 1, 0, 0]);
    assert.deepEqual(hive.changedElsewhere(), ['ada']);
    assert.deepEqual((await hive.pending(null, going)).byAddress.get('ada'), {
      unread: exactly(1),
      urgent: exactly(0),
    });
    assert.deepEqual(listIds(hive.window('ada', 0, going).messages), [3]);
    assert.deepEqual(hive.changedElsewhere(), []);
  });

  test('seed 9: is kept a day after its delivery; mail without an expiry stays until it is old', () => {
    const { items, hive, time } = rig();
    const DAY = 86_400_000;
    items.push([item({ expires: START + 10 }), item({ ...toAll, expires: START + 10 }), item(), item(toAll)]);
    items.markDelivered(items.lease(ask), [1, 2, 3, 4]);
    time.now = START + DAY - 1;
    assert.equal(hive.reap(START - 1), 0);
    assert.deepEqual(listIds(items.list('ada', 'delivered', 9)), [1, 2, 3, 4]);
    time.now = START + DAY;
    assert.equal(hive.reap(START - 1), 2);
    assert.deepEqual(listIds(items.list('ada', 'delivered', 9)), [3, 4]);
    assert.equal(hive.reap(START + 1), 2);
    assert.deepEqual(items.list('ada', 'all', 9), []);
  });
});

/** Takes everything for ada in another process, a few at a time, prints what it took, and forgets every fifth lease. */
function drainer(path: string): ChildProcess {
  const at = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const script = `
    const { openDatabase } = await import(${at('../state/database.node.ts')});
    const { openItems } = await import(${at('./index.ts')});
    const { realClock } = await import(${at('../ports/index.ts')});
    const db = openDatabase(${JSON.stringify(path)});
    const items = openItems({ db, clock: realClock });
    const take = () => items.lease({ persona: 'ada', session: null, upTo: 4, most: 17, forMs: 60_000 });
    let lease = take(); // before the start, so that both take part
    process.stdout.write('ready\\n');
    await new Promise((go) => process.stdin.once('data', go));
    for (let round = 1; ; round += 1, lease = take()) {
      if (lease.items.length === 0) break;
      if (round % 5 === 0) { items.release(lease); continue; }
      process.stdout.write(lease.items.map((one) => one.id + '\\n').join(''));
      items.markDelivered(lease, lease.items.map((one) => one.id));
      await new Promise((rested) => setTimeout(rested, 1)); // a lease may not be all that one of them is given time for
    }
    process.exit(0);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
}

test('inbox-gates 8.10a: two processes that drain one persona take 2,400 items, none twice, none lost', async () => {
  const path = freshPath();
  using db = openDatabase(path);
  const items: Items = openItems({ db, clock: realClock });
  const batch = (from: number) =>
    Array.from({ length: 200 }, (_, i) => item({ priority: (1 + ((from + i) % 4)) as 1, dedupKey: `k${from + i}` }));
  for (let from = 0; from < 2000; from += 200) items.push(batch(from));
  items.push(Array.from({ length: 200 }, () => item(toAll)));
  const children = [drainer(path), drainer(path)];
  const printed = children.map((child) => {
    const lines: string[] = [];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => lines.push(text));
    return lines;
  });
  const closed = Promise.all(children.map((child) => once(child, 'close')));
  await Promise.all(children.map((child) => once(child.stdout ?? assert.fail(), 'data')));
  for (const child of children) child.stdin?.write('go\n');
  for (let from = 1800; from < 2200; from += 200) items.push(batch(from)); // half of it is there already
  await closed;
  const accepted = printed.map((lines) => lines.join('').split('\n').slice(1, -1).map(Number));
  // What came after both had found nothing more is left for a last one.
  const rest = items.lease({ ...ask, most: 10_000 });
  items.markDelivered(rest, listIds(rest.items));
  const all = [...accepted.flat(), ...listIds(rest.items)];
  assert.ok(
    accepted.every((ids) => ids.length >= 17), // the lease that each took before the start
    `both took part: ${accepted.map((ids) => ids.length)}`,
  );
  assert.deepEqual([all.length, new Set(all).size], [2400, 2400]);
  assert.deepEqual(items.pending('ada', null), [0, 0, 0, 0, 0]);
  assert.equal(items.list('ada', 'delivered', 10_000).length, 2400);
});

test('of each priority 1,000 stands for as many or more, of the persona and of all', () => {
  using db = openDatabase(':memory:');
  const items = openItems({ db, clock: realClock });
  const many = (count: number, given: Partial<NewItem>) => Array.from({ length: count }, () => item(given));
  items.push([
    ...many(600, { priority: 1 }),
    ...many(600, { priority: 1, session: 's' }),
    ...many(1001, { priority: 4 }),
  ]);
  items.push([item({ priority: 0 }), ...many(999, { priority: 3 }), item({ ...toAll, priority: 3 })]);
  assert.deepEqual(items.pending('ada', null), [1, 600, 0, 1000, 1000]);
  assert.deepEqual(items.pending('ada', 's'), [1, 1000, 0, 1000, 1000]);
  items.push(many(5, { ...toAll, priority: 3 }));
  assert.deepEqual(items.pending('ada', 's'), [1, 1000, 0, 1000, 1000]);
  assert.deepEqual(items.pending('bob', null), [0, 0, 0, 6, 0]);
});
