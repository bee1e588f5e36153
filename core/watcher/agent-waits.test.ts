import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { answer, RULES, T0, toPollResult, worded } from '../../test/kit/transcript.ts';
import { type Event, parseEventLine } from '../events/index.ts';
import { formatEventLine } from '../events/line.ts';
import type { AgentState } from '../model/index.ts';
import { EMPTY_TAIL } from '../sinks/index.ts';
import { createInitialState } from './initial-state.ts';
import { type StepInput, step } from './step.ts';
import { type SavedState, toSavedState, type WatcherRules, type WatcherState } from './watcher-state.ts';

const rules: WatcherRules = { ...RULES, delivery: 'at-least-once' };
const AT_ONE: SavedState = { cursor: 1, state: 'UP', consecutive_failures: 0 };
const PERMISSION: AgentState = { is: 'waiting', why: 'permission', since: T0, cwd: '/w/shop' };

/** A watcher of ada, whose sink takes what `takes` allows of each batch. */
function createRig(saved: SavedState = AT_ONE, own: WatcherRules = rules) {
  let state: WatcherState;
  let takes = Number.POSITIVE_INFINITY;
  let at = T0;
  const events: Event[] = [];
  const open = (from: SavedState): void => {
    state = createInitialState(at, { is: 'resume' }, JSON.parse(JSON.stringify(from)), EMPTY_TAIL, own);
  };
  const run = (input: StepInput): string[] => {
    const out = step(state, input, own);
    const count = Math.min(takes, out.batch.length);
    state = out.batch.length === 0 ? out.state : answer(out, count, at, own).state;
    const accepted = out.batch.slice(0, count);
    events.push(...accepted);
    return accepted.map(worded);
  };
  const tick = (): number => {
    at += 1000;
    return at;
  };
  const rig = {
    events,
    hear: (next: AgentState, isHeld = false): string[] => run({ at: tick(), is: 'agent', state: next, isHeld }),
    poll: (...mail: string[]): string[] =>
      run({ at: tick(), is: 'polled', pollResult: toPollResult(['1', ...mail], at) }),
    refuseAfter: (count: number): void => {
      takes = count;
    },
    restart: (): void => open(toSavedState(state)),
    get saved(): SavedState {
      return toSavedState(state);
    },
  };
  open(saved);
  rig.poll();
  events.length = 0;
  return rig;
}

describe('what the agent waits for, in the events of its persona', () => {
  test('a wait is one event, and its end another, with what is known', () => {
    const rig = createRig();
    assert.deepEqual(rig.hear({ is: 'working', since: T0 }), []);
    assert.deepEqual(rig.hear(PERMISSION), ['waiting(permission)']);
    assert.deepEqual(rig.hear({ ...PERMISSION, model: 'm1' }), []);
    assert.deepEqual(rig.hear({ is: 'working', since: T0 + 90_000 }), ['resumed(permission working)']);
    assert.deepEqual(rig.hear({ is: 'idle' }), []);
    const [waiting, resumed] = rig.events.map((event) => parseEventLine(formatEventLine(event)));
    assert.match(waiting?.event_id ?? '', /^ada:waiting:00ff00ff00ff00ff-\d+$/);
    const { event_id: _, ts: __, ...rest } = waiting as Event & { event: 'waiting' };
    assert.deepEqual(rest, {
      ...{ event: 'waiting', source: 'kijito-inbox', persona: 'ada', reason: 'permission' },
      ...{ since: new Date(T0).toISOString().replace('Z', '000+00:00'), cwd: '/w/shop', wake_class: 'diagnostic' },
    });
    assert.ok(resumed?.event === 'resumed');
    assert.deepEqual([resumed.waited_ms, resumed.agent, resumed.wake_class], [90_000, 'working', 'diagnostic']);
  });

  test('a wait for a decision ends with it, also where nobody says more, and lasted until then', () => {
    const rig = createRig();
    const deciding: AgentState = { is: 'waiting', why: 'decision', since: T0, decision: 7 };
    assert.deepEqual(rig.hear(deciding), ['waiting(decision)']);
    assert.deepEqual(
      rig.hear({ is: 'unknown', why: 'not-reported' }),
      [],
      'after a restart nobody has said anything yet',
    );
    assert.deepEqual(rig.hear({ is: 'unknown', why: 'not-reported', decision: null }), ['resumed(decision unknown)']);
    rig.hear({ ...deciding, since: T0 + 60_000 });
    assert.deepEqual(rig.hear({ is: 'working', since: T0, decision: null }), ['resumed(decision working)']);
    rig.hear(PERMISSION);
    assert.deepEqual(
      rig.hear({ is: 'unknown', why: 'not-reported', decision: null }),
      [],
      'no other wait ends by that',
    );
  });

  test('another reporter of the same wait makes no second event, and one that begins much later is another wait', () => {
    const rig = createRig();
    rig.hear(PERMISSION);
    assert.deepEqual(rig.hear({ ...PERMISSION, why: 'input', since: T0 + 9000 }), []);
    assert.deepEqual(rig.hear({ ...PERMISSION, why: 'input', since: T0 + 60_000 }), [
      'resumed(permission waiting)',
      'waiting(input)',
    ]);
  });

  test('a state that says nothing ends no wait; an end of the process does', () => {
    const rig = createRig();
    rig.hear(PERMISSION);
    assert.deepEqual(rig.hear({ is: 'live' }), []);
    assert.deepEqual(rig.hear({ is: 'unknown', why: 'not-reported' }), []);
    assert.deepEqual(rig.hear({ is: 'gone', why: 'process-ended' }), ['resumed(permission gone)']);
  });

  test('a restart repeats no wait, and says the end of one that was over meanwhile', () => {
    const rig = createRig();
    rig.hear(PERMISSION);
    rig.restart();
    assert.deepEqual([...rig.poll(), ...rig.hear({ is: 'live' }), ...rig.hear(PERMISSION)], ['armed(1)']);
    rig.restart();
    assert.deepEqual([...rig.hear({ is: 'idle', since: T0 }), ...rig.poll()], ['armed(1)', 'resumed(permission idle)']);
    assert.equal(rig.saved.agent_wait, undefined);
  });

  test('what the sink refused is offered with the next poll, before its mail', () => {
    const rig = createRig();
    rig.refuseAfter(0);
    assert.deepEqual(rig.hear(PERMISSION), []);
    assert.equal(rig.saved.agent_wait, undefined);
    rig.refuseAfter(9);
    assert.deepEqual(rig.hear(PERMISSION, true), []);
    assert.deepEqual(rig.poll('2'), ['waiting(permission)', 'new(2)']);
  });

  test('it comes behind `armed`, and in at-least-once mode only', () => {
    const fresh = createRig({ cursor: null, state: 'UP', consecutive_failures: 0 });
    fresh.restart();
    assert.deepEqual([...fresh.hear(PERMISSION), ...fresh.poll()], ['armed(1)', 'waiting(permission)']);
    const once = createRig(AT_ONE, { ...rules, delivery: 'at-most-once' });
    assert.deepEqual([...once.hear(PERMISSION), ...once.poll()], []);
  });

  test('property: whatever is refused, and however often it restarts, waits and their ends alternate and none is lost', () => {
    const state: fc.Arbitrary<AgentState> = fc.constantFrom<AgentState[]>(
      PERMISSION,
      { is: 'waiting', why: 'input' },
      { is: 'working', since: T0 },
      { is: 'idle' },
      { is: 'live' },
      { is: 'unknown', why: 'x' },
      { is: 'gone', why: 'x' },
    );
    const act = fc.oneof(
      state.map((next) => ({ is: 'hear', next }) as const),
      fc.boolean().map((isHeld) => ({ is: 'poll', isHeld }) as const),
      fc.nat(2).map((count) => ({ is: 'takes', count: count === 2 ? 9 : count }) as const),
      fc.constant({ is: 'restart' } as const),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        const rig = createRig();
        let last: AgentState = { is: 'unknown', why: 'x' };
        for (const action of acts) {
          if (action.is === 'hear') last = action.next;
          if (action.is === 'hear') rig.hear(action.next);
          else if (action.is === 'poll') rig.poll();
          else if (action.is === 'takes') rig.refuseAfter(action.count);
          else rig.restart();
        }
        rig.refuseAfter(9);
        rig.poll();
        rig.hear(last);
        const names = rig.events.map(({ event }) => event).filter((name) => name === 'waiting' || name === 'resumed');
        assert.ok(
          names.every((name, i) => name === (i % 2 === 0 ? 'waiting' : 'resumed')),
          names.join(' '),
        );
        if (last.is !== 'live' && last.is !== 'unknown')
          assert.equal(names.length % 2 === 1, last.is === 'waiting', `${last.is}: ${names.join(' ')}`);
      }),
    );
  });
});
