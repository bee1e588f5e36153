import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { doorbell, findCitizenId, type Garden, garden, handAt } from '../../../test/kit/garden-store.ts';
import { until } from '../../../test/kit/until.ts';
import { enqueue, upsert } from './act/index.ts';
import { watchStore } from './source-mail.ts';

interface Rig extends Disposable {
  readonly clock: FakeClock;
  readonly follow: (ids: Iterable<string>) => void;
  /** What was told since it was asked last: garden ids, `records`, `records in place`; each once. */
  heard(): readonly string[];
  /** Waits for it. */
  hears(goal: string): Promise<void>;
}

function rig(store: Garden, statOnly = false): Rig {
  const clock = fakeClock();
  let output: string[] = [];
  const heard = {
    records: (inPlace: boolean) => void output.push(inPlace ? 'records in place' : 'records'),
    box: (gardenId: string) => void output.push(gardenId),
  };
  const changes = watchStore({ places: store.places, clock, listener: heard, statOnly });
  return {
    clock,
    follow: changes.follow,
    heard() {
      const before = [...new Set(output)];
      output = [];
      return before;
    },
    async hears(goal) {
      await until(goal, () => output.includes(goal));
      output = [];
    },
    [Symbol.dispose]: () => changes[Symbol.dispose](),
  };
}

const [MIXED, EMPTY, NEVER] = [
  findCitizenId('cc-mixed'),
  findCitizenId('cc-armed-empty'),
  findCitizenId('cc-never-armed'),
];

describe('what changes in a store is told at once', () => {
  test('of a message, a doorbell and a signal: the one citizen alone', async () => {
    using store = garden('store');
    using changes = rig(store);
    changes.follow([MIXED, EMPTY]);
    enqueue(handAt(), store.places, EMPTY, 'x');
    await changes.hears(EMPTY);
    doorbell(store.places, EMPTY);
    await changes.hears(EMPTY);
    writeFileSync(join(store.places.mailbox, EMPTY, 'inbox.signal'), 'now');
    await changes.hears(EMPTY);
    doorbell(store.places, MIXED);
    await until('the other', () => changes.heard().includes(MIXED));
    assert.ok(!changes.heard().includes(EMPTY));
  });

  test('of what says nothing of mail, nothing', async () => {
    using store = garden('store');
    using changes = rig(store);
    changes.follow([MIXED, EMPTY]);
    appendFileSync(join(store.places.mailbox, MIXED, 'hook.log'), 'x');
    writeFileSync(join(store.store, 'meta-bridge-hook.log'), 'x');
    doorbell(store.places, EMPTY);
    enqueue(handAt(), store.places, EMPTY, 'x');
    const output = new Set<string>();
    const hear = (): boolean => {
      for (const name of changes.heard()) output.add(name);
      return output.has(EMPTY);
    };
    await until('the news behind it', hear);
    await sleep(50);
    hear();
    assert.deepEqual([...output], [EMPTY]);
  });

  test('of a box that is made', async () => {
    using store = garden('store');
    using changes = rig(store);
    changes.follow([NEVER]);
    enqueue(handAt({ hex: ['000001'] }), store.places, NEVER, 'x');
    await changes.hears(NEVER);
    await sleep(50);
    changes.heard();
    enqueue(handAt({ hex: ['000002'] }), store.places, NEVER, 'x');
    await changes.hears(NEVER);
  });

  test('of records, and whether one is written where it stands', async () => {
    using store = garden('store');
    using changes = rig(store);
    upsert(handAt(), store.places, { backend: 'pi', nativeSessionId: 'n', cwd: '/c' });
    await changes.hears('records');
    appendFileSync(join(store.places.sessions, `${MIXED}.meta.json`), ' ');
    await changes.hears('records in place');
  });

  test('of directories that are renamed away and made again, and of what is in the new ones', async () => {
    using store = garden('store');
    using changes = rig(store);
    changes.follow([MIXED]);
    const { sessions, mailbox } = store.places;
    for (let n = 1; n <= 2; n += 1) {
      for (const place of [sessions, mailbox]) renameSync(place, `${place}.archive-${n}`);
      await until('both', () => {
        const now = changes.heard();
        return now.includes('records') || now.includes(MIXED);
      });
      for (const place of [sessions, mailbox]) mkdirSync(place);
      await changes.hears('records');
      await sleep(50);
      changes.heard();
      upsert(handAt(), store.places, { backend: 'pi', nativeSessionId: `n${n}`, cwd: '/c' });
      await changes.hears('records');
      mkdirSync(join(mailbox, MIXED));
      writeFileSync(join(mailbox, MIXED, 'x.msg'), 'x');
      await changes.hears(MIXED);
    }
  });
});

describe('where nothing is watched, it is looked at every 10 s', () => {
  test('and no sooner', async () => {
    using store = garden('store');
    using changes = rig(store, true);
    changes.follow([MIXED, EMPTY]);
    enqueue(handAt(), store.places, EMPTY, 'x');
    upsert(handAt(), store.places, { backend: 'pi', nativeSessionId: 'n', cwd: '/c' });
    await changes.clock.advance(9999);
    assert.deepEqual(changes.heard(), []);
    await changes.clock.advance(1);
    assert.deepEqual([...changes.heard()].sort(), [EMPTY, 'records'].sort());
    await changes.clock.advance(60_000);
    assert.deepEqual(changes.heard(), []);
  });

  test('also for what is not there yet', async () => {
    using store = garden();
    using changes = rig(store, true);
    changes.follow([MIXED]);
    mkdirSync(join(store.places.mailbox, MIXED), { recursive: true });
    mkdirSync(store.places.sessions);
    await changes.clock.advance(10_000);
    assert.deepEqual([...changes.heard()].sort(), [MIXED, 'records'].sort());
  });

  test('a store whose agent directory is not there is watched once it is', async () => {
    using store = garden();
    renameSync(store.store, `${store.store}.away`);
    using changes = rig(store);
    renameSync(`${store.store}.away`, store.store);
    mkdirSync(store.places.sessions);
    await changes.clock.advance(10_000);
    assert.ok(changes.heard().includes('records'));
    upsert(handAt(), store.places, { backend: 'pi', nativeSessionId: 'n', cwd: '/c' });
    await changes.hears('records');
  });
});

test('nothing is left when it ends', async () => {
  using store = garden('store');
  const changes = rig(store);
  changes.follow([MIXED]);
  changes[Symbol.dispose]();
  assert.equal(changes.clock.waiting, 0);
  doorbell(store.places, MIXED);
  await sleep(50);
  assert.deepEqual(changes.heard(), []);
});
