import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { newItem } from '../../../test/kit/new-item.ts';
import { silentLog } from '../../ports/index.ts';
import { type Database, openDatabase, type SqlValue } from '../../state/index.ts';
import { type NewItem, openItems, openLocalHive } from '../index.ts';
import { openSignals, type SignalChange } from './index.ts';

const home = mkdtempSync(join(tmpdir(), 'hivebar-signals-'));
after(() => rmSync(home, { recursive: true, force: true }));
let made = 0;

const TO_ALL = { to: { is: 'everyone' as const } };

function counting(db: Database, read: { rows: number }): Database {
  return {
    ...db,
    prepare<Row>(sql: string) {
      const statement = db.prepare<Row>(sql);
      return {
        ...statement,
        all(...values: readonly SqlValue[]) {
          const rows = statement.all(...values);
          read.rows += rows.length;
          return rows;
        },
      };
    },
  };
}

/** A hive and its signals on a database of its own; `elsewhere` is another process with the same. */
function rig(path = join(home, `${++made}`, 'hivebar.sqlite')) {
  const clock = fakeClock();
  const read = { rows: 0 };
  const db = counting(openDatabase(path), read);
  const hive = openLocalHive({ db, clock, log: silentLog, contentChars: 220 });
  const signals = openSignals({ db, local: hive, clock, log: silentLog });
  const item = (more: Partial<NewItem> = {}): NewItem => newItem({ created: clock.now(), ...more });
  return {
    path,
    /** So many rows the database gave to this process so far. */
    rowsRead: () => read.rows,
    clock,
    hive,
    signals,
    item,
    push: (...more: Partial<NewItem>[]) => hive.items.push(more.map(item)).map(({ id }) => id),
    elsewhere: () => openItems({ db: openDatabase(path), clock }),
    heard(address = 'ada') {
      const all: SignalChange[] = [];
      const listening = signals.listen(address, (change) => all.push(change));
      return {
        [Symbol.dispose]: () => listening[Symbol.dispose](),
        /** What came since the last call, without revisions. */
        take: () =>
          all.splice(0).map((change) => (change.is === 'drained' ? `drained ${change.remaining}` : change.is)),
      };
    },
  };
}

const drainIds = (signals: ReturnType<typeof rig>['signals'], most = 20, session: string | null = null): number[] => {
  const lent = signals.lend('ada', { most, session });
  lent.commit();
  return lent.items.map(({ id }) => id);
};

describe('a peek', () => {
  test('of an address that nothing ever came to is revision 0 and nothing', () => {
    const { signals } = rig();
    assert.deepEqual(signals.pending('ada'), { rev: 0, count: 0, oldest_at: null });
  });

  test('counts what is for any session, also broadcasts, and says since when', async () => {
    const { signals, push, clock } = rig();
    signals.appear('ada');
    const at = clock.now();
    push({});
    await clock.advance(1000);
    push({}, TO_ALL, { session: 's1' });
    const { count, oldest_at } = signals.pending('ada');
    assert.deepEqual([count, Date.parse(oldest_at ?? '')], [3, at]);
  });

  test('counts a broadcast also for who never had mail', () => {
    const { signals, push } = rig();
    push(TO_ALL);
    assert.equal(signals.pending('nobody-yet').count, 1);
  });

  test('does not count what expired, was read, or was delivered', async () => {
    const { signals, push, hive, clock } = rig();
    const [read = 0] = push({}, { expires: clock.now() + 1000 }, {});
    hive.markRead('ada', [read]);
    await clock.advance(1000);
    assert.equal(signals.pending('ada').count, 1);
    drainIds(signals);
    assert.equal(signals.pending('ada').count, 0);
  });

  test('counts what somebody holds a lease of: it may lapse, and no revision would say so', () => {
    const { signals, push } = rig();
    push({}, {});
    const before = signals.pending('ada');
    const lent = signals.lend('ada', { most: 1, session: null });
    assert.deepEqual(signals.pending('ada'), before);
    lent.commit();
    assert.equal(signals.pending('ada').count, 1);
  });

  test('has a revision that rises with each change, in whatever process, and after a new start', () => {
    const { signals, push, elsewhere, item, path } = rig();
    const revs = [signals.pending('ada').rev];
    push({});
    revs.push(signals.pending('ada').rev);
    elsewhere().push([item()]);
    revs.push(signals.pending('ada').rev);
    drainIds(signals, 1);
    revs.push(signals.pending('ada').rev);
    const later = rig(path);
    assert.equal(later.signals.pending('ada').rev, revs.at(-1));
    later.push({});
    revs.push(later.signals.pending('ada').rev);
    assert.deepEqual(
      revs,
      [...new Set(revs)].toSorted((a, b) => a - b),
    );
  });
});

describe('whoever listens to an address', () => {
  test('hears of what comes before the one who sent it, and nothing of others', () => {
    const { heard, push } = rig();
    using ada = heard();
    push({});
    assert.deepEqual(ada.take(), ['pending_changed']);
    push({ to: { is: 'persona', name: 'bo' } });
    assert.deepEqual(ada.take(), []);
  });

  test('hears of a broadcast once it appeared', () => {
    const { heard, push, signals } = rig();
    signals.appear('ada');
    using ada = heard();
    push(TO_ALL);
    assert.deepEqual(ada.take(), ['pending_changed']);
  });

  test('hears of a drain with what remains, of mail that was read, and of both when both were', () => {
    const { heard, push, signals, hive } = rig();
    const [first = 0] = push({}, {}, {});
    using ada = heard();
    drainIds(signals, 1);
    assert.deepEqual(ada.take(), ['drained 2']);
    hive.markRead('ada', 'all');
    assert.deepEqual(ada.take(), ['drained 0']);
    hive.markRead('ada', [first]);
    assert.deepEqual(ada.take(), []);
  });

  test('hears of what another process did as soon as this one looks; a drain and something new are two things', () => {
    const { heard, push, elsewhere, hive, item } = rig();
    push({}, {});
    using ada = heard();
    const otherItems = elsewhere();
    const lease = otherItems.lease({ persona: 'ada', session: null, upTo: 4, most: 1, forMs: 1000 });
    otherItems.markDelivered(
      lease,
      lease.items.map(({ id }) => id),
    );
    otherItems.push([item(), item()]);
    hive.changedElsewhere();
    assert.deepEqual(ada.take(), ['drained 3', 'pending_changed']);
    hive.changedElsewhere();
    assert.deepEqual(ada.take(), []);
  });

  test('takes no drain of before for one of now', () => {
    const { heard, push, hive } = rig();
    const [read = 0] = push({}, {});
    hive.markRead('ada', [read]);
    using ada = heard();
    push({});
    assert.deepEqual(ada.take(), ['pending_changed']);
  });

  test('is not told again what it saw as it began to listen', () => {
    const { heard, elsewhere, hive, item } = rig();
    elsewhere().push([item()]);
    using ada = heard();
    hive.changedElsewhere();
    assert.deepEqual(ada.take(), []);
  });

  test('hears of what expired as of a change: nobody was shown it, also when mail to oneself came with it', async () => {
    const { heard, push, hive, clock, elsewhere, item } = rig();
    push({ expires: clock.now() + 1000 }, { expires: clock.now() + 2000 });
    using ada = heard();
    await clock.advance(1000);
    hive.changedElsewhere();
    assert.deepEqual(ada.take(), ['pending_changed']);
    await clock.advance(1000);
    elsewhere().push([item({ type: 'mail', source: 'ada' })]);
    hive.changedElsewhere();
    assert.deepEqual(ada.take(), ['pending_changed']);
  });

  test('hears of a drain whatever it took of very much: the first, the newest, or what came just before', () => {
    const { heard, push, signals, hive } = rig();
    const ids = push(...Array.from({ length: 3000 }, () => ({})));
    using ada = heard();
    drainIds(signals, 5);
    assert.deepEqual(ada.take(), ['drained 2995']);
    hive.markRead('ada', ids.slice(-2));
    assert.deepEqual(ada.take(), ['drained 2993']);
    push({ priority: 0 });
    ada.take();
    drainIds(signals, 1);
    assert.deepEqual(ada.take(), ['drained 2993']);
  });

  test('costs whoever sends the same, however much is pending', () => {
    const few = rig();
    const many = rig();
    few.push({});
    many.push(...Array.from({ length: 3000 }, () => ({})));
    using _few = few.heard();
    using _many = many.heard();
    const costs = [few, many].map(({ push, rowsRead }) => {
      const before = rowsRead();
      push({});
      return rowsRead() - before;
    });
    assert.equal(costs[0], costs[1]);
    assert.ok((costs[0] ?? 0) < 20, `${costs}`);
    const before = many.rowsRead();
    many.hive.markRead('ada', [1]);
    assert.ok(many.rowsRead() - before < 50, `${many.rowsRead() - before} rows for one that was read`);
  });

  test('hears nothing once it is gone, and one that fails keeps nothing from the others', () => {
    const { heard, push, signals } = rig();
    using failing = signals.listen('ada', () => {
      throw new Error('mine');
    });
    const first = heard();
    using second = heard();
    push({});
    assert.deepEqual([first.take(), second.take()], [['pending_changed'], ['pending_changed']]);
    first[Symbol.dispose]();
    failing[Symbol.dispose]();
    push({});
    assert.deepEqual([first.take(), second.take()], [[], ['pending_changed']]);
  });
});

describe('a drain', () => {
  test('gives as many as are asked for, the most urgent first, and says what remains', () => {
    const { signals, push } = rig();
    const ids = push({ priority: 3 }, { priority: 2 }, { priority: 0 }, { priority: 0 }, { priority: 2 });
    const lent = signals.lend('ada', { most: 3, session: null });
    assert.deepEqual(
      lent.items.map(({ id }) => ids.indexOf(id)),
      [2, 3, 1],
    );
    assert.equal(lent.remaining, 2);
    lent.commit();
    assert.deepEqual(drainIds(signals), [ids[4], ids[0]]);
  });

  test('keeps to the number also when all of it is critical', () => {
    const { signals, push } = rig();
    push({ priority: 0 }, { priority: 0 });
    assert.deepEqual(
      [drainIds(signals, 1).length, drainIds(signals, 1).length, drainIds(signals, 1).length],
      [1, 1, 0],
    );
  });

  test('gives what is for one session to that session', () => {
    const { signals, push } = rig();
    push({ session: 's1' });
    assert.equal(drainIds(signals).length, 0);
    assert.equal(drainIds(signals, 20, 's1').length, 1);
  });

  test('that is let go gives the same again, at once; one that is forgotten, when its lease is over', async () => {
    const { signals, push, clock } = rig();
    push({});
    signals.lend('ada', { most: 20, session: null }).release();
    const forgotten = signals.lend('ada', { most: 20, session: null });
    assert.equal(forgotten.items.length, 1);
    assert.equal(signals.lend('ada', { most: 20, session: null }).items.length, 0);
    await clock.advance(30_000);
    assert.equal(drainIds(signals).length, 1);
  });

  test('has a size that one answer can have; a text that is longer comes alone', () => {
    const { signals, push } = rig();
    const long = 'x'.repeat(600 * 1024);
    push({ content: long }, { content: long }, { content: 'short' });
    assert.deepEqual([drainIds(signals).length, drainIds(signals).length, drainIds(signals).length], [1, 2, 0]);
  });
});
