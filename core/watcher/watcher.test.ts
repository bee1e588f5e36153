import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { Fact } from '../board/index.ts';
import type { Event } from '../events/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault } from '../model/index.ts';
import { type Ack, EMPTY_TAIL, type Sink } from '../sinks/index.ts';
import type { Checkpoint, Source } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { createWatcher } from './watcher.ts';
import type { SavedState, WatcherRules } from './watcher-state.ts';

const FULL = new Fault('no-space', 'disk is full', { is: 'machine', key: 'disk' });
const BROKEN = new Fault('broken', 'cut', { is: 'persona', key: 'ada' });
const HELD: Ack = { is: 'stopped', count: 0, fault: FULL };
const ALL: Ack = { is: 'all' };

function bench(options: { rules?: Partial<WatcherRules>; keeps?: boolean } = {}) {
  const clock = fakeClock();
  const rules: WatcherRules = {
    persona: 'ada',
    address: 'ada',
    source: 'kijito-inbox',
    run: '00ff00ff00ff00ff',
    pollSeconds: 60,
    alertAfter: 3,
    maxReplay: 50,
    heartbeatMs: null,
    suppressed: new Set(['bo']),
    delivery: 'at-least-once',
    silenced: new Set(),
    ...options.rules,
  };
  const log: string[] = [];
  const facts: Fact[] = [];
  const world = {
    rows: [] as { id: number; from: string }[],
    fault: null as Fault | null,
    settling: () => false,
    saveFault: null as Fault | null,
    /** What the sink answers. */
    answer: (_: readonly Event[], __: AbortSignal): Ack | Promise<Ack> => ALL,
  };
  const source: Source = {
    id: 'kijito',
    kind: 'kijito-inbox',
    personas: async () => [],
    async poll(_, from: Checkpoint) {
      log.push(`look ${from.is === 'at' ? from.id : from.is}`);
      if (world.fault !== null) throw world.fault;
      const rows = world.rows.map((row) => ({ ...row, created: 'c', content: 'x', read: false }));
      const evidence = { is: 'log' as const, messages: rows, max: rows.at(-1)?.id ?? 0 };
      return {
        at: clock.now(),
        unread: exactly(0),
        urgent: exactly(0),
        agentState: AGENT_STATE_NOT_REPORTED,
        evidence,
      };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const sink: Sink<SavedState> = {
    savesState: options.keeps ?? false,
    open: async () => EMPTY_TAIL,
    async take(events, storedState, signal) {
      log.push(`take ${events.map(({ event }) => event).join(' ')} | ${storedState.cursor} ${storedState.state}`);
      return world.answer(events, signal);
    },
    [Symbol.asyncDispose]: async () => void log.push('closed'),
  };
  const saver = {
    save(saved: SavedState) {
      if (world.saveFault !== null) throw world.saveFault;
      log.push(`save ${saved.cursor} ${saved.state} ${saved.consecutive_failures}`);
    },
  };
  const watcher = createWatcher({
    persona: { id: 'ada', address: 'ada', label: 'ada' },
    source,
    sink,
    saver: options.keeps ? null : saver,
    rules,
    state: createInitialState(clock.now(), { is: 'baseline' }, null, EMPTY_TAIL, rules),
    clock,
    put: (fact) => void facts.push(fact),
    settling: () => world.settling(),
  });
  const stop = new AbortController();
  const poll = () => watcher.poll((run) => run(), stop.signal, stop.signal);
  const beat = () => watcher.beat(stop.signal);
  /** What happened since the last call. */
  const since = () => log.splice(0);
  return { clock, world, watcher, stop, poll, beat, since, facts };
}

describe('one look', () => {
  test('a cursor that was just set is saved, told, and saved again with what was told', async () => {
    const { poll, since, world } = bench();
    world.rows = [{ id: 3, from: 'river' }];
    assert.deepEqual(await poll(), { is: 'healthy' });
    assert.deepEqual(since(), ['look unset', 'save 3 UP 0', 'take armed | 3 UP', 'save 3 UP 0']);
  });

  test('the lines that a sink writes after the call come before the facts of the poll', async () => {
    const { poll, world, facts } = bench({ keeps: true });
    await poll();
    const before = facts.length;
    let reported = -1;
    world.answer = () => {
      queueMicrotask(() => {
        reported = facts.length - before;
      });
      return ALL;
    };
    world.rows = [{ id: 1, from: 'river' }];
    await poll();
    assert.equal(reported, 0);
    assert.deepEqual(
      facts.slice(before).map(({ is }) => is),
      ['polled', 'delivered'],
    );
  });

  test('mail goes to the sink first, and only then is the cursor saved', async () => {
    const { poll, since, world } = bench();
    await poll();
    since();
    world.rows = [{ id: 1, from: 'river' }];
    await poll();
    assert.deepEqual(since(), ['look 0', 'take new | 1 UP', 'save 1 UP 0']);
  });

  test('while a sink has some of it, it is being told; that it was looked at is known before', async () => {
    const { poll, world, watcher, facts } = bench();
    await poll();
    facts.splice(0);
    const sink = Promise.withResolvers<Ack>();
    const asked = Promise.withResolvers<void>();
    world.rows = [{ id: 1, from: 'river' }];
    world.answer = () => {
      asked.resolve();
      return sink.promise;
    };
    assert.equal(watcher.isDelivering, false);
    const looking = poll();
    await asked.promise;
    assert.equal(watcher.isDelivering, true);
    sink.resolve(ALL);
    await looking;
    assert.equal(watcher.isDelivering, false);
    assert.deepEqual(
      facts.map(({ is }) => is),
      ['polled', 'delivered'],
    );
  });

  test('a failed one is an outcome, not a throw, and is saved', async () => {
    const { poll, since, world } = bench();
    world.fault = BROKEN;
    assert.deepEqual(await poll(), { is: 'failed', fault: BROKEN });
    assert.deepEqual(since(), ['look unset', 'save null UP 1']);
  });

  test('one that was stopped is no verdict', async () => {
    const { poll, since, stop, world, watcher } = bench();
    world.fault = BROKEN;
    stop.abort();
    assert.deepEqual(await poll(), { is: 'stopped' });
    assert.deepEqual(since(), ['look unset']);
    assert.equal(watcher.state.failures, 0);
  });

  test('a stop in the hand-over is no failed delivery, also at most once: the rest stays above the cursor', async () => {
    const { poll, since, stop, world, watcher } = bench({ rules: { delivery: 'at-most-once' } });
    await poll();
    world.rows = [1, 2, 3].map((id) => ({ id, from: 'river' }));
    world.answer = () => {
      stop.abort();
      return { is: 'stopped', count: 1, fault: FULL };
    };
    since();
    await poll();
    assert.deepEqual(since(), ['look 0', 'take new new new | 3 UP', 'save 1 UP 0']);
    assert.deepEqual(watcher.state.checkpoint, { is: 'at', id: 1 });
  });
});

describe('a sink that keeps the mark itself', () => {
  test('gets it with the events, and alone when it moved without any; never when it did not move', async () => {
    const { poll, since, world } = bench({ keeps: true });
    await poll();
    await poll();
    world.rows = [{ id: 1, from: 'bo' }];
    await poll();
    await poll();
    assert.deepEqual(since(), ['look unset', 'take armed | 0 UP', 'look 0', 'look 0', 'take  | 1 UP', 'look 1']);
  });

  test('is asked again for a mark that it refused, and its refusal is on the board', async () => {
    const { poll, since, world, facts, watcher } = bench({ keeps: true });
    await poll();
    world.rows = [{ id: 1, from: 'bo' }];
    world.answer = () => HELD;
    since();
    facts.length = 0;
    await poll();
    assert.deepEqual(
      facts.map(({ is }) => is),
      ['polled', 'held'],
    );
    assert.equal(watcher.retryAt, null); // no reason to ask the inbox out of turn
    world.answer = () => ALL;
    await poll();
    assert.deepEqual(since(), ['look 0', 'take  | 1 UP', 'look 1', 'take  | 1 UP']);
  });
});

describe('a sink that refuses', () => {
  test('is tried again 1, 2, 4 s later, and forgiven once it takes', async () => {
    const { poll, world, watcher, clock } = bench();
    world.answer = () => HELD;
    for (const ms of [1000, 2000, 4000]) {
      await poll();
      assert.equal(watcher.retryAt, clock.now() + ms);
    }
    world.answer = () => ALL;
    await poll();
    assert.equal(watcher.retryAt, null);
    world.rows = [{ id: 1, from: 'river' }];
    world.answer = () => HELD;
    await poll();
    assert.equal(watcher.retryAt, clock.now() + 1000);
  });

  test('at most once: nothing is held, nothing is tried again', async () => {
    const { poll, world, watcher } = bench({ rules: { delivery: 'at-most-once' } });
    world.answer = () => HELD;
    await poll();
    assert.equal(watcher.retryAt, null);
  });

  test('nothing is left to try again once a look has nothing to offer', async () => {
    const { poll, world, watcher } = bench();
    await poll();
    world.rows = [{ id: 1, from: 'river' }];
    world.answer = () => HELD;
    await poll();
    world.rows = []; // read and removed meanwhile
    await poll();
    assert.equal(watcher.retryAt, null);
  });

  test('an inbox that fails meanwhile has nothing to offer either: it is not asked out of turn', async () => {
    const { poll, world, watcher } = bench();
    await poll();
    world.rows = [{ id: 1, from: 'river' }];
    world.answer = () => HELD;
    await poll();
    world.fault = BROKEN;
    await poll();
    assert.equal(watcher.retryAt, null);
    assert.equal(watcher.state.failures, 1);
  });
});

describe('a tick without a look', () => {
  test('tells a heartbeat that is due, and saves nothing', async () => {
    const { poll, beat, since, clock } = bench({ rules: { heartbeatMs: 60_000 } });
    await poll();
    since();
    await beat();
    await clock.advance(60_000);
    await beat();
    assert.deepEqual(since(), ['take heartbeat | 0 UP']);
  });

  test('does not pass a sink that refuses mail', async () => {
    const { poll, beat, since, clock, world } = bench({ rules: { heartbeatMs: 1000 } });
    await poll();
    world.rows = [{ id: 1, from: 'river' }];
    world.answer = () => HELD;
    await poll();
    since();
    await clock.advance(1000);
    await beat();
    assert.deepEqual(since(), []);
  });

  test('while the sink is at it says nothing: never two things at once', async () => {
    const { poll, beat, since, clock, world, watcher } = bench({ rules: { heartbeatMs: 1000 } });
    await poll();
    await clock.advance(1000);
    let finish: (ack: Ack) => void = () => {};
    world.answer = () => new Promise((resolve) => (finish = resolve));
    since();
    const first = beat();
    await clock.advance(0);
    await beat();
    world.rows = [{ id: 1, from: 'river' }];
    const second = poll(); // its events wait until the heartbeat is settled
    await clock.advance(0);
    assert.deepEqual(since(), ['take heartbeat | 0 UP', 'look 0']);
    world.answer = () => ({ is: 'stopped', count: 0, fault: FULL });
    finish(ALL);
    await Promise.all([first, second]);
    assert.deepEqual(since(), ['take new | 1 UP', 'save 0 UP 0']);
    assert.deepEqual(watcher.state.checkpoint, { is: 'at', id: 0 }); // the answer to the heartbeat settled no mail
  });
});

test('a state that cannot be saved is said once a cause, does not stop the watch, and is saved when it can be again', async () => {
  const { poll, world, facts, since } = bench();
  await poll();
  since();
  facts.length = 0;
  world.saveFault = new Fault('unwritable', 'read-only', { is: 'persona', key: 'state:ada' });
  world.rows = [{ id: 1, from: 'river' }];
  await poll();
  await poll();
  const held = () => facts.filter(({ is }) => is === 'held').length;
  assert.equal(held(), 1);
  assert.deepEqual(since(), ['look 0', 'take new | 1 UP', 'look 1']);
  world.saveFault = null;
  await poll();
  assert.deepEqual(since(), ['look 1', 'save 1 UP 0']);
  world.saveFault = new Fault('unwritable', 'read-only', { is: 'persona', key: 'state:ada' });
  await poll();
  assert.equal(held(), 2);
});

test('disposing a watcher closes its sink', async () => {
  const { watcher, since } = bench();
  await watcher[Symbol.asyncDispose]();
  assert.deepEqual(since(), ['closed']);
});
