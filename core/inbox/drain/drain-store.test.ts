import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { silentLog } from '../../ports/index.ts';
import { openDatabase } from '../../state/index.ts';
import { openItems, openLocalHive } from '../index.ts';
import type { NewItem, Priority } from '../item.ts';
import { drain, LEASE_MS, MOST_ITEMS } from './drain.ts';
import { MAX_TEXT } from './render.ts';

/** Drains over the real store, in memory, with a clock that stands still. */
function rig() {
  const db = openDatabase(':memory:');
  const clock = fakeClock();
  const items = openItems({ db, clock });
  const needs = { items, takeOver: null, clock, log: silentLog };
  const push = (content: string, more: Partial<NewItem> = {}): number => {
    const rest = { type: 'agent', source: 'bo', priority: 2, session: null, expires: null, dedupKey: null } as const;
    const to = { is: 'persona', name: 'ada' } as const;
    return items.push([{ ...rest, to, content, created: clock.now(), ...more }])[0]?.id ?? -1;
  };
  const next = (upTo: Priority = 4, persona = 'ada', session: string | null = null) =>
    drain(needs, { persona, session, upTo, room: MAX_TEXT });
  return { db, clock, items, push, next, [Symbol.dispose]: () => db[Symbol.dispose]() };
}

const listIds = (drained: ReturnType<typeof drain>): readonly number[] => drained?.items.map(({ id }) => id) ?? [];

describe('drains of the store', () => {
  test('a drain that died shows its items to the next one, half a minute later', async () => {
    using at = rig();
    at.push('a');
    assert.deepEqual(listIds(at.next()), [1]);
    assert.equal(at.next(), null);
    await at.clock.advance(LEASE_MS);
    assert.deepEqual(listIds(at.next()), [1]);
  });

  test('inbox-gates 8.13a, seed 8: what was read or has expired since it was pushed is not shown', async () => {
    using at = rig();
    at.push('gone soon', { expires: at.clock.now() + 1000 });
    at.push('is read in the inbox');
    at.push('stays');
    using hive = openLocalHive({ db: at.db, clock: at.clock, log: silentLog, contentChars: null });
    hive.markRead('ada', [2]);
    await at.clock.advance(1000);
    assert.deepEqual(listIds(at.next()), [3]);
  });

  test('only the urgent ones, when the caller asks for those; the others stay', () => {
    using at = rig();
    for (const priority of [4, 1, 2, 0] as const) at.push('x', { priority });
    const urgent = at.next(1);
    assert.deepEqual([listIds(urgent), urgent?.left], [[4, 2], 2]);
    urgent?.commit();
    assert.deepEqual(listIds(at.next()), [3, 1]);
  });

  test('a broadcast is shown once to each, with the word that it is for all', () => {
    using at = rig();
    at.push('x', { to: { is: 'everyone' } });
    for (const name of ['ada', 'bo', 'ada']) {
      const drained = at.next(4, name);
      assert.match(drained?.text ?? 'to="everyone"', / to="everyone">\nx\n|^to=/);
      drained?.commit();
    }
    assert.equal(at.next(4, 'ada'), null);
    assert.equal(at.next(4, 'bo'), null);
  });

  const priority = fc.constantFrom<Priority>(0, 1, 2, 2, 4);
  const size = fc.constantFrom(1, 1, 300, 4000, 12_000);
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ is: fc.constant('push' as const), priority, size }) },
    {
      weight: 3,
      arbitrary: fc.record({ is: fc.constant('drain' as const), ends: fc.constantFrom('commit', 'release', 'never') }),
    },
    { weight: 1, arbitrary: fc.record({ is: fc.constant('late commit' as const) }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant('wait' as const), ms: fc.constantFrom(1, 1000, LEASE_MS) }) },
  );

  test('however drains end: nothing is lost, what was committed never comes again, order holds, no priority 0 waits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        using at = rig();
        const waiting = new Map<number, Priority>();
        /** What a drain took and has not said anything of: nobody else is shown it for so long. */
        let open: { ack: readonly number[]; shown: readonly number[]; until: number; commit: () => void }[] = [];
        const isAccepted = (id: number): boolean =>
          open.some(({ ack, until }) => until > at.clock.monotonic() && ack.includes(id));

        function drained() {
          const free = [...waiting].filter(([id]) => !isAccepted(id)).sort(([a, p], [b, q]) => p - q || a - b);
          const found = at.next();
          const shown = listIds(found);
          const critical = free.filter(([, urgency]) => urgency === 0).length;
          const ack = free.slice(0, Math.max(critical, MOST_ITEMS)).map(([id]) => id);
          assert.deepEqual(shown, ack.slice(0, shown.length), 'the first ones that nobody else has, in order');
          assert.ok(shown.length > 0 || free.length === 0);
          assert.ok(shown.length >= critical);
          assert.equal(found?.left ?? 0, free.length - shown.length);
          for (const id of shown) assert.match(found?.text ?? '', new RegExp(`<item id="${id}" `));
          return { ack, shown, commit: () => found?.commit(), release: () => found?.release() };
        }
        const commit = ({ shown, commit: say }: { readonly shown: readonly number[]; commit(): void }): void => {
          say();
          for (const id of shown) waiting.delete(id);
        };

        for (const move of steps) {
          if (move.is === 'push') {
            waiting.set(at.push('x'.repeat(move.size), { priority: move.priority }), move.priority);
          } else if (move.is === 'wait') {
            await at.clock.advance(move.ms);
            open = open.filter(({ until }) => until > at.clock.monotonic());
          } else if (move.is === 'late commit') {
            const [late, ...others] = open;
            if (late !== undefined) commit(late);
            open = others;
          } else {
            const now = drained();
            if (move.ends === 'commit') commit(now);
            else if (move.ends === 'release') now.release();
            else open.push({ ...now, until: at.clock.monotonic() + LEASE_MS });
          }
        }
        await at.clock.advance(LEASE_MS);
        open = [];
        for (let last = drained(); last.shown.length > 0; last = drained()) commit(last);
        assert.equal(waiting.size, 0, 'in the end everything comes');
      }),
      { numRuns: 150 },
    );
  });
});
