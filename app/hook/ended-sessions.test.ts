import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUndeliveredCheck, openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { newItem } from '../../test/kit/new-item.ts';
import { openSessionStore } from '../open/index.ts';
import { handOverEnded, UNKNOWN_SESSION_MS } from './ended-sessions.ts';

test('A8 given a session whose process is gone, or that nobody announced for a day, its items go to the persona', () => {
  using db = openDatabase(':memory:');
  const items = openItems({ db, clock: realClock });
  const sessions = openSessionStore(db, 'linux');
  const plain = { cwd: '/w', pane: null, runner: { pid: 11, startKey: 'boot:1' }, resume: null };
  for (const id of ['gone', 'live']) sessions.set({ ...plain, persona: 'ada', id }, 1);
  const now = realClock.now();
  const rev = () => db.prepare<{ rev: number }>("SELECT rev FROM personas WHERE name = 'ada'").get()?.rev ?? 0;
  for (const session of ['gone', 'live', 'unknown', 'old'])
    items.push([
      newItem({ session, content: session, created: now - (session === 'old' ? UNKNOWN_SESSION_MS + 1 : 0) }),
    ]);
  const before = rev();
  const handOver = () =>
    handOverEnded({ items, sessions: () => sessions, config: '/none', now, isGone: ({ id }) => id === 'gone' });
  assert.deepEqual(
    handOver().map(({ persona, session, count }) => [persona, session, count]),
    [
      ['ada', 'gone', 1],
      ['ada', 'old', 1],
    ],
  );
  assert.ok(rev() > before, 'whoever waits for a change hears of it');
  assert.deepEqual(handOver(), []);
  assert.equal(createUndeliveredCheck(db)('ada', now), 'ordinary');
  const lease = items.lease({ persona: 'ada', session: 'another', upTo: 4, most: 9, forMs: 1000 });
  assert.deepEqual(
    lease.items.map(({ content }) => content),
    ['old', 'gone'],
  );
  assert.ok(
    lease.items.every(({ source }) => source === 'ci'),
    'and they are whole',
  );
});
