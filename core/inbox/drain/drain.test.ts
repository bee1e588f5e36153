import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { Fault } from '../../model/index.ts';
import type { Item, Items, Lease, LeaseRequest, Priority } from '../item.ts';
import { type DrainNeeds, drain, lend, MOST_ITEMS } from './drain.ts';
import { MAX_TEXT } from './render.ts';

const clock = fakeClock();

function item(id: number, content: string, priority: Priority = 2): Item {
  const rest = { persona: 'ada', type: 'agent', source: 'bo', session: null, expires: null } as const;
  const marks = { isBroadcast: false, origin: null, read: null, delivered: null };
  return { ...rest, ...marks, id, content, priority, created: clock.now(), dedupKey: `k${id}` };
}

/** The rules of `Items` that a drain leans on, in memory; the store itself has its own tests. */
function createItems(...saved: readonly Item[]) {
  const delivered: number[] = [];
  const asked: LeaseRequest[] = [];
  const leases = new Map<string, readonly Item[]>();
  const calls: string[] = [];
  const isLeased = ({ id }: Item): boolean => [...leases.values()].flat().some((leased) => leased.id === id);
  const unused = (): never => {
    throw new Error('not used here');
  };
  const items: Items = {
    push: unused,
    pushOwn: unused,
    awaitedSessions: unused,
    endSession: unused,
    list: unused,
    find: unused,
    pending: unused,
    shownAt: unused,
    lease(request) {
      asked.push(request);
      calls.push('lease');
      const free = saved
        .filter(
          (candidate) =>
            !delivered.includes(candidate.id) && !isLeased(candidate) && candidate.priority <= request.upTo,
        )
        .toSorted((a, b) => a.priority - b.priority);
      const given = free.filter(({ priority }, n) => priority === 0 || n < request.most);
      const lease: Lease = { id: `l${asked.length}`, persona: 'ada', items: given, left: free.length - given.length };
      if (given.length > 0) leases.set(lease.id, given);
      return lease;
    },
    markDelivered(lease, ids) {
      calls.push('delivered');
      leases.delete(lease.id);
      delivered.push(...ids);
    },
    release(lease) {
      calls.push('release');
      leases.delete(lease.id);
    },
  };
  return { items, delivered, asked, calls };
}

function createNeeds(items: Items, takeOver: DrainNeeds['takeOver'] = null) {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  return { needs: { items, takeOver, clock, log: { info: say, warn: say, error: say } }, lines };
}

const all = { persona: 'ada', session: 's1', upTo: 4, room: MAX_TEXT } as const;

describe('a drain', () => {
  test('takes the queue files over first, then asks for items of this session, for half a minute', () => {
    const { items, asked, calls } = createItems(item(1, 'a'));
    const { needs } = createNeeds(items, (persona, session) => void calls.push(`take over ${persona} ${session}`));
    const drained = drain(needs, { ...all, upTo: 1 });
    assert.equal(drained, null);
    assert.deepEqual(calls, ['take over ada s1', 'lease']);
    assert.deepEqual(asked, [{ persona: 'ada', session: 's1', upTo: 1, most: MOST_ITEMS, forMs: 30_000 }]);
  });

  test('inbox-gates 8.3a: nothing is delivered before the caller says that it was written', () => {
    const { items, delivered } = createItems(item(1, 'a'), item(2, 'b'));
    const drained = drain(createNeeds(items).needs, all);
    assert.match(drained?.text ?? '', /id="1"[\s\S]*id="2"/);
    assert.deepEqual(delivered, []);
    drained?.commit();
    assert.deepEqual(delivered, [1, 2]);
  });

  test('only what is in the text is delivered: the rest is pending again and comes next', () => {
    const { items, delivered } = createItems(item(1, 'x'.repeat(9000)), item(2, 'y'.repeat(9000)));
    const { needs } = createNeeds(items);
    const first = drain(needs, all);
    assert.equal(first?.left, 1);
    first?.commit();
    assert.deepEqual(delivered, [1]);
    const second = drain(needs, all);
    assert.match(second?.text ?? '', /<item id="2"[\s\S]*yyy/);
  });

  test('what could not be written is pending at once, and only the first word counts', () => {
    const { items, delivered, calls } = createItems(item(1, 'a'));
    const { needs } = createNeeds(items);
    const drained = drain(needs, all);
    drained?.release();
    drained?.commit();
    drained?.release();
    assert.deepEqual([delivered, calls], [[], ['lease', 'release']]);
    assert.match(drain(needs, all)?.text ?? '', /id="1"/);
  });

  test('two at once show different items', () => {
    const { items } = createItems(item(1, 'a'), item(2, 'b'));
    const { needs } = createNeeds(items);
    assert.deepEqual(drain(needs, all)?.items.length, 2);
    assert.equal(drain(needs, all), null);
  });

  test('inbox-gates 8.7: the cap of 20 defers nothing of priority 0', () => {
    const saved = Array.from({ length: 60 }, (_, n) => item(n + 1, 'text', n % 2 === 0 ? 0 : 2));
    const { items } = createItems(...saved);
    const drained = drain(createNeeds(items).needs, all);
    assert.equal(drained?.items.filter(({ priority }) => priority === 0).length, 30);
    assert.equal(drained?.left, 30);
  });

  test('queue files that cannot be taken over now are a line in the log, and the items of the store are shown', () => {
    const { items } = createItems(item(1, 'a'));
    const { needs, lines } = createNeeds(items, () => {
      throw new Fault('lock-held', 's1.jsonl is locked', { is: 'machine', key: 'queue' });
    });
    assert.notEqual(drain(needs, all), null);
    assert.deepEqual(lines, ['queued items wait for the next drain: s1.jsonl is locked']);
  });

  test('a store that is locked is waited for once', () => {
    const { items, calls } = createItems(item(1, 'a'));
    const { needs, lines } = createNeeds(items, () => {
      throw new Fault('database', 'database is locked', { is: 'machine', key: 'database' });
    });
    assert.throws(() => drain(needs, all), /database is locked/);
    assert.deepEqual([calls, lines], [[], []]);
  });

  test('a mark that fails is a line in the log, never an error to a hook; a lease that fails is one', () => {
    const { items } = createItems(item(1, 'a'));
    const broken = (): never => {
      throw new Fault('database', 'database is locked', { is: 'machine', key: 'database' });
    };
    const { needs, lines } = createNeeds({ ...items, markDelivered: broken, release: broken });
    drain(needs, all)?.commit();
    assert.deepEqual(lines, ['what was shown will be shown again: database is locked']);
    assert.throws(() => drain(createNeeds({ ...items, lease: broken }).needs, all), /database is locked/);
  });

  test('items that cannot be shown are pending again at once', () => {
    const { items, calls } = createItems({ ...item(1, 'a'), content: null as unknown as string });
    assert.throws(() => drain(createNeeds(items).needs, all), TypeError);
    assert.deepEqual(calls, ['lease', 'release']);
  });

  test('lent items are whole, and delivered one by one', () => {
    const { items, delivered } = createItems(item(1, 'x'.repeat(50_000)), item(2, 'b'));
    const lent = lend(createNeeds(items).needs, all);
    assert.deepEqual(
      lent?.items.map(({ content }) => content.length),
      [50_000, 1],
    );
    lent?.commit(lent.items.slice(1));
    assert.deepEqual(delivered, [2]);
  });
});
