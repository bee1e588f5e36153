import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, REFUSED, RULES, T0, worded } from '../../test/kit/transcript.ts';
import { exactly, UNKNOWN } from '../model/index.ts';
import { EMPTY_TAIL } from '../sinks/index.ts';
import type { PollResult } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { type StepInput, step } from './step.ts';
import { toSavedState, type WatcherStart, type WatcherState } from './watcher-state.ts';

const rules = { ...RULES, delivery: 'at-least-once', alertAfter: 2 } as const;

/** A watch of levels whose sink takes everything. */
function watching(start: WatcherStart = { is: 'baseline' }, saved: ReturnType<typeof toSavedState> | null = null) {
  let state: WatcherState = createInitialState(T0, start, saved, EMPTY_TAIL, rules);
  let at = T0;
  const hear = (input: StepInput) => {
    const out = step(state, input, rules);
    state = out.batch.length === 0 ? out.state : answer(out, out.batch.length, at, rules).state;
    return { output: out.batch.map(worded), facts: out.facts };
  };
  return {
    poll(pending: number) {
      at += 1000;
      const [unread, urgent] = [exactly(pending), UNKNOWN];
      const poll: PollResult = { at, unread, urgent, agentState: { is: 'live' }, evidence: { is: 'level' } };
      return hear({ at, is: 'polled', pollResult: poll });
    },
    fail() {
      at += 1000;
      return hear({ at, is: 'failed', fault: REFUSED, settling: false });
    },
    get state() {
      return state;
    },
  };
}

test('a watch of levels tells no mail, whatever is counted, and keeps no position', () => {
  const rig = watching();
  assert.deepEqual(rig.poll(0).output, ['armed(0)']);
  const { output, facts } = rig.poll(12);
  assert.deepEqual(output, []);
  assert.deepEqual(
    facts.map((fact) => fact.is === 'polled' && [fact.unread, fact.cursor, fact.health.is]),
    [[exactly(12), null, 'up']],
  );
  assert.deepEqual([rig.state.checkpoint, toSavedState(rig.state).cursor], [{ is: 'unset' }, null]);
});

test('its reach has edges as any other: one alert, one recovered', () => {
  const rig = watching();
  rig.poll(1);
  assert.deepEqual([rig.fail().output, rig.fail().output, rig.fail().output], [[], ['alert(2 120s)'], []]);
  assert.deepEqual([rig.poll(1).output, rig.poll(1).output], [['recovered(null)'], []]);
});

test('down at the end of one process and up at the beginning of the next: recovered, then armed', () => {
  const before = watching();
  before.poll(1);
  before.fail();
  before.fail();
  const rig = watching({ is: 'resume' }, toSavedState(before.state));
  assert.deepEqual(rig.poll(1).output, ['recovered(null)', 'armed(0)']);
});

test('one that is born during the run says so, and no message of before is new to it', () => {
  const rig = watching({ is: 'born' });
  assert.deepEqual(rig.poll(3).output, ['persona_added', 'armed(0)']);
  assert.deepEqual(rig.state.checkpoint, { is: 'unset' });
});
