import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';

import { test } from 'node:test';
import { CHANNEL_LAPSES_MS } from '../../core/hooks/index.ts';
import { openItems } from '../../core/inbox/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { newItem } from '../../test/kit/new-item.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { openNudgeClaims } from './nudge-claims.ts';
import { noteActivity } from './prompts.node.ts';

/** Two processes on one database: a waiter and the tray process. */
function rig() {
  const state = scratch();
  const time = { now: Date.now() + 5000 }; // later than every moment that is noted
  const clock = { ...realClock, now: () => time.now };
  const dirs = { state: state.dir, run: state.at('run'), config: state.at('config') };
  const [waiterDb, trayDb] = [openDatabase(state.at('hivebar.sqlite')), openDatabase(state.at('hivebar.sqlite'))];
  const items = openItems({ db: waiterDb, clock });
  const open = (db: typeof waiterDb) => openNudgeClaims({ db, items: openItems({ db, clock }), dirs, clock });
  return {
    time,
    claims: [open(waiterDb), open(trayDb)] as const,
    push: (session: string | null = null) => items.push([newItem({ session, created: time.now })]),
    moment: (event: string) => noteActivity(dirs.run, 'ada', event),
    stopNow: () => {
      noteActivity(dirs.run, 'ada', 'Stop');
      utimesSync(state.at('run/activity/ada'), time.now / 1000, time.now / 1000);
    },
    show: (most: number) => {
      const lease = items.lease({ persona: 'ada', session: null, upTo: 4, most, forMs: 1000 });
      items.markDelivered(
        lease,
        lease.items.map(({ id }) => id),
      );
    },
    [Symbol.dispose]() {
      waiterDb[Symbol.dispose]();
      trayDb[Symbol.dispose]();
      state[Symbol.dispose]();
    },
  };
}

test('given an item for an idle agent, one process may nudge and every other finds it outstanding', () => {
  using r = rig();
  const [waiter, tray] = r.claims;
  r.moment('Stop');
  r.push();
  assert.deepEqual(tray.decide('ada', null).nudge, { is: 'nudge' }, 'which changes nothing');
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'nudge' });
  assert.deepEqual(tray.claim('ada', null).nudge, { is: 'none', why: 'outstanding' });
  assert.deepEqual(tray.decide('local-ada', null).nudge, { is: 'none', why: 'outstanding' }, 'by its other id too');
});

test('given a turn that showed some of the items, the rest is nudged for, until they are shown', () => {
  using r = rig();
  const [waiter, tray] = r.claims;
  r.moment('Stop');
  for (let n = 0; n < 3; n += 1) r.push();
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'nudge' });
  r.time.now += 2000;
  r.show(1);
  r.stopNow();
  r.time.now += 1000;
  assert.deepEqual(tray.claim('ada', null).nudge, { is: 'nudge' });
  r.time.now += 2000;
  r.stopNow();
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'none', why: 'told' }, 'that turn showed nothing');
  r.show(2);
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'none', why: 'nothing waits' });
});

test('given a claim that was taken back, the next one may nudge; one that somebody replaced stays', () => {
  using r = rig();
  const [waiter, tray] = r.claims;
  r.moment('Stop');
  r.push();
  const claimed = tray.claim('ada', null);
  tray.release('ada', claimed);
  r.time.now += 1;
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'nudge' });
  tray.release('ada', claimed);
  r.time.now += 1;
  assert.deepEqual(tray.claim('ada', null).nudge, { is: 'none', why: 'outstanding' });
});

test('given a ring over a channel, every other way waits for an answer, and nudges once when none comes', () => {
  using r = rig();
  const [waiter, tray] = r.claims;
  r.moment('Stop');
  r.push();
  assert.deepEqual(waiter.claim('ada', 's1', 'channel').nudge, { is: 'nudge' });
  assert.deepEqual(tray.claim('ada', null).nudge, { is: 'none', why: 'outstanding' });
  r.time.now += CHANNEL_LAPSES_MS;
  assert.deepEqual(waiter.claim('ada', 's1', 'channel').nudge, { is: 'none', why: 'outstanding' });
  assert.deepEqual(tray.claim('ada', null).nudge, { is: 'nudge' });
  assert.deepEqual(tray.claim('ada', null).nudge, { is: 'none', why: 'outstanding' });
  assert.deepEqual(waiter.claim('ada', 's1', 'channel').nudge, { is: 'none', why: 'outstanding' });
});

test('given an item for one session, only a waiter of that session may nudge for it', () => {
  using r = rig();
  const [waiter] = r.claims;
  r.moment('Stop');
  r.push('s2');
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'none', why: 'nothing waits' });
  assert.deepEqual(waiter.claim('ada', 's2').nudge, { is: 'nudge' });
});

test('given a Stop whose hook still decides, nobody nudges, for that hook may show what waits', () => {
  using r = rig();
  const [waiter] = r.claims;
  r.push();
  r.moment('Stopping');
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'none', why: 'working' });
  r.moment('Stop');
  assert.deepEqual(waiter.claim('ada', 's1').nudge, { is: 'nudge' });
});
