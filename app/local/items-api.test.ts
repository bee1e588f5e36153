import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realRandom, silentLog } from '../../core/ports/index.ts';
import { createRealDisk, openDatabase } from '../../core/state/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { newItem } from '../../test/kit/new-item.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { openSessionStore } from '../open/index.ts';
import { createItemsApi } from './items-api.ts';

/** What routes do, on a clock that stands still. */
function openApi(home: string) {
  const clock = fakeClock();
  const db = openDatabase(':memory:');
  const local = openLocalHive({ db, clock, log: silentLog, contentChars: null });
  const machine = { disk: createRealDisk(silentLog), clock, random: realRandom, log: silentLog };
  const api = createItemsApi({ db, local, dirs: { state: home, config: home } }, machine);
  const stop = new AbortController();
  const wait = (persona: string) => {
    const waiting = { isOver: false };
    const done = api.untilPending(persona, 60_000, stop.signal).then(() => {
      waiting.isOver = true;
    });
    return { waiting, done };
  };
  return { api, clock, db, stop, wait };
}

test('given a wait, when an item comes for its persona, it ends without a timer; mail of others does not end it', async () => {
  using home = scratch();
  const { api, clock, wait } = openApi(home.dir);
  api.push(newItem({ to: { is: 'persona', name: 'bo' } }));
  api.push(newItem({}));
  const { waiting, done } = wait('ada');
  api.push(newItem({ to: { is: 'persona', name: 'bo' } }));
  await clock.advance(0);
  assert.equal(waiting.isOver, false);
  api.push(newItem({}));
  await done;
  assert.equal(clock.waiting, 0);
});

test('given a persona that does not exist yet, a broadcast ends its wait', async () => {
  using home = scratch();
  const { api, wait } = openApi(home.dir);
  api.push(newItem({ to: { is: 'persona', name: 'bo' } }));
  const { done } = wait('later');
  api.push(newItem({ to: { is: 'everyone' } }));
  await done;
  assert.equal(api.lend('later', null, 20)?.items.length, 1);
});

test('a wait ends when the lease of another reader is over, since that is no news to anybody; and when it is stopped', async () => {
  using home = scratch();
  const { api, clock, stop, wait } = openApi(home.dir);
  api.push(newItem({}));
  assert.equal(api.lend('ada', null, 20)?.items.length, 1);
  const { done } = wait('ada');
  await clock.advance(30_000);
  await done;
  assert.equal(api.lend('ada', null, 20)?.items.length, 1);
  const second = wait('ada');
  stop.abort();
  await second.done;
  assert.equal(clock.waiting, 0);
});

test('given a line in the queue file of a session, a drain lends it, without a round of the queue service', () => {
  using home = scratch();
  const { api, db } = openApi(home.dir);
  const place = { cwd: home.dir, pane: null, runner: { pid: process.pid, startKey: null }, resume: null };
  openSessionStore(db).set({ persona: 'ada', id: 's1', ...place }, 1);
  mkdirSync(home.at('inject-queue'), { mode: 0o700 });
  home.write('inject-queue/s1.jsonl', `${JSON.stringify({ content: 'queued' })}\n`);
  assert.deepEqual(
    api.lend('ada', null, 20)?.items.map(({ content }) => content),
    ['queued'],
  );
  assert.equal(api.findPersona('s1'), 'ada');
});
