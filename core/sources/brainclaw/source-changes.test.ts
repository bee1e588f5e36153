import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brainclaw, LAST, NEXT, type Store } from '../../../test/kit/brainclaw-store.ts';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { until } from '../../../test/kit/until.ts';
import { watchStore } from './source-changes.ts';

interface Rig extends Disposable {
  readonly clock: FakeClock;
  readonly follow: (agents: Iterable<string>) => readonly string[];
  /** What was told since it was asked last, each once: `journal`, an agent, `any`. */
  heard(): readonly string[];
  /** Waits for it. */
  hears(goal: string): Promise<void>;
}

function rig({ root }: Store, { mail = true, statOnly = false } = {}): Rig {
  const clock = fakeClock();
  let output: string[] = [];
  const heard = {
    journal: () => void output.push('journal'),
    inbox: (agent: string | null) => void output.push(agent ?? 'any'),
  };
  const changes = watchStore({ store: root, mail, clock, listener: heard, statOnly });
  return {
    ...{ clock, follow: changes.follow },
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

const findInbox = ({ root }: Store, ...names: readonly string[]): string =>
  join(root, 'coordination', 'inbox', ...names);

describe('what changes in a store is told at once', () => {
  test('of records, of a segment that begins and of meta.json: the journal', async () => {
    using store = brainclaw();
    using changes = rig(store);
    store.step(1);
    await changes.hears('journal');
    appendFileSync(store.event(LAST), 'x');
    await changes.hears('journal');
    writeFileSync(store.event(NEXT), 'x');
    await changes.hears('journal');
    writeFileSync(store.event('meta.json'), '{}');
    await changes.hears('journal');
  });

  test('of a message: its agent alone, also when it is written where it stands', async () => {
    using store = brainclaw();
    using changes = rig(store);
    assert.deepEqual(changes.follow(['codex', 'hermes']), ['codex', 'hermes']);
    assert.deepEqual(changes.follow(['codex', 'hermes', 'zoe']), ['zoe']);
    writeFileSync(findInbox(store, 'codex', 'm.json'), 'x');
    await until('it', () => changes.heard().includes('codex'));
    appendFileSync(findInbox(store, 'codex', 'm.json'), 'x');
    await changes.hears('codex');
    writeFileSync(findInbox(store, 'hermes', 'm.json'), 'x');
    await until('the other', () => {
      const now = changes.heard();
      assert.ok(!now.includes('codex') || now.includes('hermes'));
      return now.includes('hermes');
    });
  });

  test('of an inbox that is made, and of what comes into it', async () => {
    using store = brainclaw();
    using changes = rig(store);
    mkdirSync(findInbox(store, 'zoe'));
    await changes.hears('zoe');
    changes.follow(['zoe']);
    writeFileSync(findInbox(store, 'zoe', 'm.json'), 'x');
    await changes.hears('zoe');
  });

  test('of what says nothing of either, nothing', async () => {
    using store = brainclaw();
    using changes = rig(store);
    changes.follow(['codex']);
    writeFileSync(findInbox(store, 'cnd_1.json'), 'a candidate');
    writeFileSync(findInbox(store, 'codex', '.keep'), 'x');
    writeFileSync(join(store.root, 'events.jsonl'), 'the log of before');
    writeFileSync(join(store.root, '..', 'a file of the project'), 'x');
    writeFileSync(store.event('x.lock'), 'x');
    writeFileSync(findInbox(store, 'codex', 'm.json'), 'x');
    const output = new Set<string>();
    const hear = (): boolean => {
      for (const name of changes.heard()) output.add(name);
      return output.has('codex');
    };
    await until('the news behind it', hear);
    await sleep(50);
    hear();
    assert.deepEqual([...output], ['codex']);
  });

  test('of directories that are renamed away and made again, and of what is in the new ones', async () => {
    using store = brainclaw();
    using changes = rig(store);
    changes.follow(['codex']);
    renameSync(store.journal, `${store.journal}.parked`);
    await changes.hears('journal');
    mkdirSync(store.journal);
    await changes.hears('journal');
    writeFileSync(store.event('seg-00000001.jsonl'), 'x');
    await changes.hears('journal');
    renameSync(join(store.root, 'coordination'), join(store.root, 'away'));
    await changes.hears('any');
    mkdirSync(findInbox(store, 'codex'), { recursive: true });
    await changes.hears('any');
    await sleep(50);
    writeFileSync(findInbox(store, 'codex', 'm.json'), 'x');
    await changes.hears('codex');
  });

  test('of a store that is moved itself at once, of one that comes back within 10 s', async () => {
    using store = brainclaw();
    using changes = rig(store);
    renameSync(store.root, `${store.root}.away`);
    await changes.hears('journal');
    renameSync(`${store.root}.away`, store.root);
    await changes.clock.advance(10_000);
    assert.ok(changes.heard().includes('journal'));
    store.step(1);
    await changes.hears('journal');
  });

  test('without mail of nothing outside of the journal', async () => {
    using store = brainclaw();
    using changes = rig(store, { mail: false });
    assert.deepEqual(changes.follow(['codex']), []);
    writeFileSync(findInbox(store, 'codex', 'm.json'), 'x');
    rmSync(join(store.root, 'coordination'), { recursive: true });
    store.step(1);
    await until('the journal', () => {
      const now = changes.heard();
      assert.ok(now.every((name) => name === 'journal'));
      return now.length > 0;
    });
  });
});

test('where nothing is watched, directories are looked at every 10 s, and no sooner', async () => {
  using store = brainclaw();
  using changes = rig(store, { statOnly: true });
  changes.follow(['codex']);
  writeFileSync(store.event(NEXT), 'x');
  writeFileSync(findInbox(store, 'codex', 'm.json'), 'x');
  await changes.clock.advance(9999);
  assert.deepEqual(changes.heard(), []);
  await changes.clock.advance(1);
  assert.deepEqual([...changes.heard()].sort(), ['codex', 'journal']);
});

test('nothing is left when it ends', async () => {
  using store = brainclaw();
  const changes = rig(store);
  changes.follow(['codex']);
  changes[Symbol.dispose]();
  assert.equal(changes.clock.waiting, 0);
  store.step(1);
  await sleep(50);
  assert.deepEqual(changes.heard(), []);
});
