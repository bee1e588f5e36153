import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answer, REFUSED, RULES, T0, toPollResult, worded } from '../../test/kit/transcript.ts';
import type { Event } from '../events/index.ts';
import { Fault } from '../model/index.ts';
import { EMPTY_TAIL } from '../sinks/index.ts';
import type { Message } from '../sources/index.ts';
import type { StepOutput } from './batch.ts';
import { createInitialState } from './initial-state.ts';
import { type StepInput, step } from './step.ts';
import { toSavedState, type WatcherRules, type WatcherStart, type WatcherState } from './watcher-state.ts';

describe('what is asked to be saved', () => {
  const open = (start: WatcherStart, rules: WatcherRules = RULES): WatcherState =>
    createInitialState(T0, start, null, EMPTY_TAIL, rules);
  const polled = (state: WatcherState, words: string[], rules: WatcherRules = RULES): StepOutput =>
    step(state, { at: T0, is: 'polled', pollResult: toPollResult(words, T0) }, rules);

  test('a cursor that was just set is saved before armed is told: a kill between them makes no second baseline', () => {
    const out = polled(open({ is: 'baseline' }), ['1', '2']);
    assert.equal(out.save, true);
    assert.equal(toSavedState(out.state).cursor, 2);
  });

  test('mail is told before the cursor is saved', () => {
    const armed = answer(polled(open({ is: 'baseline' }), []), 1, T0, RULES);
    const out = polled(armed.state, ['1']);
    assert.equal(out.save, false);
    assert.equal(toSavedState(out.state).cursor, 0);
    assert.equal(out.saved.cursor, 1);
    assert.equal(answer(out, 1, T0, RULES).save, true);
  });

  test('every full poll saves, also a failed one; a tick without a look never does, even when its heartbeat is told', () => {
    const rules = { ...RULES, heartbeatMs: 1000 };
    const armed = answer(polled(open({ is: 'baseline' }, rules), [], rules), 1, T0, rules);
    assert.equal(armed.save, true);
    assert.equal(polled(armed.state, [], rules).save, true);
    assert.equal(step(armed.state, { at: T0, is: 'failed', fault: REFUSED, settling: false }, rules).save, true);
    assert.equal(step(armed.state, { at: T0, is: 'beat' }, rules).save, false);
    const beat = step(armed.state, { at: T0 + 1000, is: 'beat' }, rules);
    assert.equal(beat.batch.length, 1);
    assert.equal(answer(beat, 1, T0 + 1000, rules).save, false);
  });
});

describe('what the board is told', () => {
  const at = T0;
  const polls = (state: WatcherState, ...words: string[]): StepOutput =>
    step(state, { at, is: 'polled', pollResult: toPollResult(words, at) }, RULES);

  test('levels at once, events only when the sink took them, a refusal as held', () => {
    const out = polls(
      createInitialState(at, { is: 'resume' }, { cursor: 0, state: 'UP', consecutive_failures: 0 }, EMPTY_TAIL, RULES),
      '1',
      '2',
    );
    assert.deepEqual(
      out.facts.map((fact) => fact.is),
      ['polled'],
    );
    const after = answer(out, 2, at, RULES);
    assert.deepEqual(
      after.facts.map((fact) => fact.is),
      ['delivered', 'held'],
    );
    const [reported] = after.facts;
    assert.deepEqual(reported?.is === 'delivered' && reported.events.map(worded), ['armed(0)', 'new(1)']);
  });

  test('A5 an event that was tried and lost is not told, and those behind it are', () => {
    const rules: WatcherRules = { ...RULES, delivery: 'at-most-once' };
    const saved = { cursor: 0, state: 'UP', consecutive_failures: 0 } as const;
    const begun = createInitialState(at, { is: 'resume' }, saved, EMPTY_TAIL, rules);
    const out = step(begun, { at, is: 'polled', pollResult: toPollResult(['1', '2', '3'], at) }, rules);
    const lost = { indexes: new Set([1]), fault: REFUSED };
    const after = step(out.state, { at, is: 'taken', ack: { is: 'all', lost } }, rules);
    const [reported] = after.facts;
    assert.deepEqual(reported?.is === 'delivered' && reported.events.map(worded), ['armed(0)', 'new(2)', 'new(3)']);
    assert.equal(after.saved.cursor, 3);
  });

  test('reach: unseen, up, failing, down at the threshold, up again', () => {
    let state = createInitialState(at, { is: 'baseline' }, null, EMPTY_TAIL, { ...RULES, alertAfter: 2 });
    const seen = [state.health.is as string];
    for (const word of ['up', 'failing', 'down', 'down', 'up']) {
      const input: StepInput =
        word === 'up'
          ? { at, is: 'polled', pollResult: toPollResult([], at) }
          : { at, is: 'failed', fault: REFUSED, settling: false };
      const out = step(state, input, { ...RULES, alertAfter: 2 });
      state = out.batch.length === 0 ? out.state : answer(out, out.batch.length, at, RULES).state;
      seen.push(state.health.is);
    }
    assert.deepEqual(seen, ['unseen', 'up', 'failing', 'down', 'down', 'up']);
  });

  test('settling after a gap, failures count but no edge comes of them; of the first one after it, it does', () => {
    const rules = { ...RULES, alertAfter: 2 };
    const opened = createInitialState(at, { is: 'baseline' }, null, EMPTY_TAIL, rules);
    const armed = step(opened, { at, is: 'polled', pollResult: toPollResult([], at) }, rules);
    let { state } = answer(armed, 1, at, rules);
    const seen: string[] = [];
    for (const settling of [true, true, true, false]) {
      const out = step(state, { at, is: 'failed', fault: REFUSED, settling }, rules);
      seen.push(`${out.state.health.is} ${out.state.failures} ${out.batch.map(({ event }) => event)}`);
      state = out.state;
    }
    assert.deepEqual(seen, ['failing 1 ', 'failing 2 ', 'failing 3 ', 'down 4 alert']);
  });

  test('an outage from before the gap stays one while it settles', () => {
    const saved = { cursor: 1, state: 'DOWN', consecutive_failures: 5 } as const;
    const state = createInitialState(at, { is: 'resume' }, saved, EMPTY_TAIL, RULES);
    const out = step(state, { at, is: 'failed', fault: REFUSED, settling: true }, RULES);
    assert.deepEqual([out.state.health.is, out.batch], ['down', []]);
  });

  test('a DOWN that was resumed is shown down on its first failure, since then', () => {
    const state = createInitialState(
      at,
      { is: 'resume' },
      { cursor: 1, state: 'DOWN', consecutive_failures: 5 },
      EMPTY_TAIL,
      RULES,
    );
    const { health } = step(state, { at, is: 'failed', fault: REFUSED, settling: false }, RULES).state;
    assert.deepEqual(health, { is: 'down', since: at, failures: 6, why: 'refused' });
  });

  test('what the agent was told is not what is true: a blip after an untold recovery is failing, not down', () => {
    const rules: WatcherRules = { ...RULES, delivery: 'at-least-once' };
    const down = createInitialState(
      at,
      { is: 'resume' },
      { cursor: 1, state: 'DOWN', consecutive_failures: 5 },
      EMPTY_TAIL,
      rules,
    );
    const healthy = step(down, { at, is: 'polled', pollResult: toPollResult(['1'], at) }, rules);
    const untold = answer(healthy, 0, at, rules);
    assert.equal(
      step(untold.state, { at, is: 'failed', fault: REFUSED, settling: false }, rules).state.health.is,
      'failing',
    );
  });
});

describe('what an event carries', () => {
  const armedAt0 = createInitialState(
    T0,
    { is: 'resume' },
    { cursor: 0, state: 'UP', consecutive_failures: 0 },
    EMPTY_TAIL,
    RULES,
  );
  const pollMail = (row: Partial<Message>, rules: WatcherRules = RULES): Event | undefined => {
    const poll = toPollResult(['1'], T0);
    const rows = poll.evidence.messages.map((each) => ({ ...each, ...row }));
    return step(
      armedAt0,
      { at: T0, is: 'polled', pollResult: { ...poll, evidence: { is: 'log', messages: rows, max: 1 } } },
      rules,
    ).batch[1];
  };

  test('source, time, persona, an id that is the same for ever, and a wake class', () => {
    assert.deepEqual(pollMail({}), {
      event: 'new',
      source: 'kijito-inbox',
      ts: '2026-06-20T00:00:00.000000+00:00',
      persona: 'ada',
      event_id: 'ada:new:1',
      wake_class: 'mail',
      id: 1,
      from: 'river',
      created: '2026-06-20T00:00:00',
      content: 'hello',
    });
  });

  test('without content there is no content key; without a persona no persona key', () => {
    const event = pollMail({ content: null }, { ...RULES, persona: null });
    assert.ok(event !== undefined && !('content' in event) && !('persona' in event));
    assert.equal(event.event_id, '_:new:1');
    assert.equal((pollMail({ content: '' }) as { content?: string }).content, '');
  });

  test('every other event counts on within the run, also those that are said again', () => {
    const rules: WatcherRules = { ...RULES, delivery: 'at-least-once', alertAfter: 1 };
    const ids: string[] = [];
    let state = createInitialState(T0, { is: 'baseline' }, null, EMPTY_TAIL, rules);
    for (const takes of [0, 1]) {
      const out = step(state, { at: T0, is: 'failed', fault: REFUSED, settling: false }, rules);
      ids.push(...out.batch.map((event) => event.event_id));
      state = answer(out, takes, T0, rules).state;
    }
    assert.deepEqual(ids, ['ada:alert:00ff00ff00ff00ff-1', 'ada:alert:00ff00ff00ff00ff-2']);
  });

  test('an answer of the sink without an offer is a mistake of the caller, and said so', () => {
    assert.throws(() => step(armedAt0, { at: T0, is: 'taken', ack: { is: 'all' } }, RULES), /without an offer/);
  });
});

test('D6 an inbox that the disk refuses is down at once, and not up with the number of before', () => {
  const state = createInitialState(T0, { is: 'baseline' }, null, EMPTY_TAIL, RULES);
  const polled = answer(
    step(state, { at: T0, is: 'polled', pollResult: toPollResult(['1'], T0) }, RULES),
    9,
    T0,
    RULES,
  ).state;
  const failed = (code: 'unreadable' | 'refused', settling = false): StepOutput => {
    const fault = new Fault(code, 'no', { is: 'persona', key: 'ada' });
    return step(polled, { at: T0, is: 'failed', fault, settling }, RULES);
  };
  assert.deepEqual(
    [failed('unreadable').state.health.is, failed('unreadable').batch.map(({ event }) => event)],
    ['down', ['alert']],
  );
  assert.equal(failed('refused').state.health.is, 'failing');
  assert.equal(failed('unreadable', true).state.health.is, 'failing');
});
