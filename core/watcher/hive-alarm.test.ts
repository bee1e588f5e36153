import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { MINUTE, roundsRig, SECOND } from '../../test/kit/rounds-rig.ts';
import { answer, RULES, T0, toPollResult } from '../../test/kit/transcript.ts';
import type { Fact } from '../board/index.ts';
import type { Event, HiveAlarmEvent } from '../events/index.ts';
import { Fault } from '../model/index.ts';
import { type Ack, EMPTY_TAIL } from '../sinks/index.ts';
import type { PendingCounts } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { step } from './step.ts';
import { createWatcher } from './watcher.ts';
import { toSavedState, type WatcherRules } from './watcher-state.ts';

const ALARM: HiveAlarmEvent = { event: 'alert', reason: 'stranded', stranded_inboxes: ['ghost'] };
const ONCE_MORE: WatcherRules = { ...RULES, delivery: 'at-least-once' };
const AT_ONE = { cursor: 1, state: 'UP', consecutive_failures: 0 } as const;
const FULL: Ack = { is: 'stopped', count: 0, fault: new Fault('no-space', 'full', { is: 'machine', key: 'disk' }) };

describe('an alarm of the hive, told in one of its streams', () => {
  const armed = (rules: WatcherRules) => {
    const begun = createInitialState(T0, { is: 'resume' }, AT_ONE, EMPTY_TAIL, rules);
    return answer(step(begun, { at: T0, is: 'polled', pollResult: toPollResult(['1'], T0) }, rules), 1, T0, rules)
      .state;
  };

  test('it is an alert event of that persona with an id of its own, and moves nothing', () => {
    const before = armed(ONCE_MORE);
    const out = step(before, { at: T0, is: 'alarm', alarm: ALARM }, ONCE_MORE);
    const [event] = out.batch;
    assert.deepEqual(out.batch.length, 1);
    assert.ok(event?.event === 'alert' && event.reason === 'stranded');
    assert.deepEqual([event.persona, event.wake_class, event.stranded_inboxes], ['ada', 'diagnostic', ['ghost']]);
    assert.match(event.event_id, /^ada:alert:00ff00ff00ff00ff-\d+$/);
    for (const count of [0, 1]) {
      const { state } = answer(out, count, T0, ONCE_MORE);
      assert.deepEqual(toSavedState(state), toSavedState(before), `${count} taken`);
      assert.equal(state.health, before.health);
    }
  });

  test('rev 6 has none', () => {
    assert.deepEqual(step(armed(RULES), { at: T0, is: 'alarm', alarm: ALARM }, RULES).batch, []);
  });

  function bench() {
    const clock = fakeClock();
    const facts: Fact[] = [];
    const ack: string[] = [];
    const world = { mail: ['1'], take: (): Ack | Promise<Ack> => ({ is: 'all' }) };
    const watcher = createWatcher({
      persona: { id: 'ada', address: 'ada', label: 'ada' },
      source: {
        id: 'kijito',
        kind: 'kijito-inbox',
        personas: async () => [],
        poll: async () => toPollResult(world.mail, clock.now()),
        [Symbol.asyncDispose]: async () => {},
      },
      sink: {
        savesState: true,
        open: async () => EMPTY_TAIL,
        async take(events: readonly Event[]) {
          const answered = await world.take();
          if (answered.is === 'all') ack.push(...events.map((e) => ('reason' in e ? e.reason : e.event)));
          return answered;
        },
        [Symbol.asyncDispose]: async () => {},
      },
      saver: null,
      rules: ONCE_MORE,
      state: createInitialState(clock.now(), { is: 'resume' }, AT_ONE, EMPTY_TAIL, ONCE_MORE),
      clock,
      put: (fact) => void facts.push(fact),
      settling: () => false,
    });
    const { signal } = new AbortController();
    const poll = () => watcher.poll((run) => run(), signal, signal);
    return { watcher, world, poll, ack, facts, tell: () => watcher.deliverAlarm(ALARM, signal) };
  }

  test('it waits for armed', async () => {
    const { poll, tell, ack } = bench();
    assert.equal(await tell(), false);
    await poll();
    assert.equal(await tell(), true);
    assert.deepEqual(ack, ['armed', 'stranded']);
  });

  test('trap 10: a sink that refuses it was not told, and what is held goes first', async () => {
    const { poll, tell, ack, world, watcher, facts } = bench();
    await poll();
    world.take = () => FULL;
    assert.equal(await tell(), false);
    assert.notEqual(watcher.retryAt, null);
    world.take = () => ({ is: 'all' });
    assert.equal(await tell(), false, 'not past a sink that refuses');
    await poll();
    assert.deepEqual(
      facts.slice(-2).map(({ is }) => is),
      ['polled', 'delivered'],
      'the board shows nothing as held when nothing is',
    );
    assert.equal(await tell(), true);
    assert.deepEqual(ack, ['armed', 'stranded']);
  });

  test('mail that is on its way to the sink comes before it', async () => {
    const { poll, tell, ack, world } = bench();
    await poll();
    const slow = Promise.withResolvers<Ack>();
    world.mail = ['1', '2'];
    world.take = () => slow.promise;
    const looking = poll();
    const telling = new Promise((resolve) => setImmediate(resolve)).then(tell);
    setImmediate(() => setImmediate(() => slow.resolve({ is: 'all' })));
    await Promise.all([looking, telling]);
    assert.deepEqual(ack, ['armed', 'new', 'stranded']);
  });
});

describe('what a tick heard', () => {
  test('the pending list is heard once a tick, when the looks that it began are back; no answer is heard as none', async (t) => {
    const heard: string[] = [];
    const { clock, world } = await roundsRig(t, {
      options: {
        onPendingList: async (levels: PendingCounts | null) =>
          void heard.push(levels === null ? 'none' : [...levels.byAddress.keys()].join(' ')),
      },
    });
    heard.length = 0;
    world.mail.set('ada', 1);
    world.slow.set('ada', 5 * SECOND);
    await clock.advance(MINUTE + SECOND);
    assert.deepEqual(heard, [], 'ada is still looked at');
    await clock.advance(5 * SECOND);
    assert.deepEqual(heard, ['ada']);
    world.faults.set('pending', new Fault('broken', 'cut', { is: 'source', key: 'kijito' }));
    await clock.advance(MINUTE);
    await clock.advance(5 * SECOND);
    assert.deepEqual(heard, ['ada', 'none']);
  });
});
