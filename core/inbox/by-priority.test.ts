import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newItem } from '../../test/kit/new-item.ts';
import { realClock } from '../ports/index.ts';
import { openDatabase } from '../state/index.ts';
import { MOST_COUNTED, type NewItem, openItems, type Priority } from './index.ts';
import { createUnreadCounter } from './query.ts';

const NOW = 1_750_000_000_000;
const priority = fc.constantFrom<Priority[]>(0, 1, 2, 3, 4);
const anyItem = fc.record({
  to: fc.constantFrom<NewItem['to'][]>(
    { is: 'persona', name: 'ada' },
    { is: 'persona', name: 'bo' },
    { is: 'everyone' },
  ),
  priority,
  session: fc.constantFrom(null, null, 's1', 's2'),
  expires: fc.constantFrom(null, NOW - 1, NOW + 1),
});

test('property: by priority it is what is unread and has not expired, leased or for one session or not', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 30 }), priority, fc.nat(5), (batch, upTo, shown) => {
      using db = openDatabase(':memory:');
      const clock = { ...realClock, now: () => NOW - 2 };
      const items = openItems({ db, clock });
      // They appear, so that broadcasts are theirs too.
      items.push([newItem({ to: { is: 'persona', name: 'bo' } }), newItem({})]);
      items.push(batch.map((item) => newItem(item.to.is === 'everyone' ? { ...item, session: null } : item)));
      const lease = items.lease({ persona: 'ada', session: 's1', upTo, most: 10, forMs: 1000 });
      items.markDelivered(
        lease,
        lease.items.slice(0, shown).map(({ id }) => id),
      );
      items.lease({ persona: 'ada', session: 's2', upTo, most: 10, forMs: 1000 });
      const counts = createUnreadCounter(db);
      for (const name of ['ada', 'bo', 'nobody']) {
        const expected = [0, 0, 0, 0, 0];
        for (const item of name === 'nobody' ? [] : items.list(name, 'all', 1000)) {
          const isOver = item.expires !== null && item.expires <= NOW;
          if (item.read === null && !isOver) expected[item.priority] = (expected[item.priority] ?? 0) + 1;
        }
        assert.deepEqual(counts(name, NOW), expected, name);
      }
    }),
    { numRuns: 300 },
  );
});

test('a thousand stands for as many or more', () => {
  using db = openDatabase(':memory:');
  const items = openItems({ db, clock: realClock });
  const batch = Array.from({ length: MOST_COUNTED + 1 }, (_, i) => newItem({ priority: i === 0 ? 0 : 3 }));
  items.push([...batch, ...batch.map((item) => ({ ...item, session: 's1' }))]);
  assert.deepEqual(createUnreadCounter(db)('ada', realClock.now()), [2, 0, 0, MOST_COUNTED, 0]);
});
