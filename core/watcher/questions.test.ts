import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answer, RULES, T0 } from '../../test/kit/transcript.ts';
import { AGENT_STATE_NOT_REPORTED, exactly } from '../model/index.ts';
import { EMPTY_TAIL } from '../sinks/index.ts';
import type { SetItem } from '../sources/index.ts';
import { createInitialState } from './initial-state.ts';
import { step } from './step.ts';
import { type SavedState, toSavedState, type WatcherRules, type WatcherState } from './watcher-state.ts';

const rules: WatcherRules = { ...RULES, delivery: 'at-least-once' };

/** An item of a set; `state` is its fingerprint. */
function item(key: string, state = 'unread', over: Partial<SetItem> = {}): SetItem {
  const isOver = state !== 'unread';
  return {
    ...{
      key,
      fingerprint: state,
      appeared: isOver ? 'quiet' : 'new',
      changed: isOver ? 'read' : null,
      vanished: 'gone',
    },
    ...{ from: 'bo', created: null, content: 'x', extra: {}, ...over },
  };
}
const question = (key: string): SetItem => item(key, 'unread', { appeared: 'question' });

/** A watcher of ada, whose sink takes everything unless told otherwise. */
function createRig() {
  let state: WatcherState;
  let at = T0;
  const open = (saved: SavedState | null): void => {
    const start = saved === null ? ({ is: 'born' } as const) : ({ is: 'resume' } as const);
    state = createInitialState(at, start, saved, EMPTY_TAIL, rules);
  };
  open(null);
  return {
    /** Polls, and returns what it reports of questions; null when it reports nothing of them. */
    poll(items: readonly SetItem[], { takes = true, unread = items.length } = {}): number | null {
      at += 1000;
      const evidence = { is: 'set', epoch: '1', items } as const;
      const counts = { unread: exactly(unread), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED };
      const out = step(state, { at, is: 'polled', pollResult: { at, ...counts, evidence } }, rules);
      state = out.batch.length === 0 ? out.state : answer(out, takes ? out.batch.length : 0, at, rules).state;
      const reported = out.facts.flatMap((fact) => (fact.is === 'reported' ? [fact.values.questions ?? null] : []));
      assert.ok(reported.length <= 1);
      return reported[0] ?? null;
    },
    restart: (): void => open(JSON.parse(JSON.stringify(toSavedState(state))) as SavedState),
  };
}

describe('questions in a set', () => {
  test('count from the poll that brings them until they are answered, also where their source calls them mail later', () => {
    const rig = createRig();
    assert.equal(rig.poll([item('a')]), null, 'mail is no question');
    assert.equal(rig.poll([item('a'), question('q'), question('r')]), 2);
    assert.equal(rig.poll([item('a'), item('q'), item('r')]), 2);
    assert.equal(rig.poll([item('a'), item('q', 'read'), item('r')]), 1);
    assert.equal(rig.poll([item('a')]), 0, 'what vanished is asked no more');
    assert.equal(rig.poll([item('a')]), null);
  });

  test('count after a restart too, and from a baseline', () => {
    const rig = createRig();
    rig.poll([question('q')]);
    rig.restart();
    assert.equal(rig.poll([item('q')]), 1);
    assert.equal(rig.poll([item('q', 'read')]), 0);
  });

  test('that an agent fetched one does not answer it; that nothing is unread does', () => {
    const rig = createRig();
    rig.poll([question('q')]);
    assert.equal(rig.poll([item('q', 'fetched', { appeared: 'new', changed: 'delivered' })]), 1);
    assert.equal(rig.poll([item('q', 'fetched', { appeared: 'new', changed: 'delivered' })], { unread: 0 }), 0);
  });

  test('one that the sink refused and that is gone since is not left on the board', () => {
    const rig = createRig();
    rig.poll([]);
    assert.equal(rig.poll([question('q')], { takes: false }), 1);
    assert.equal(rig.poll([]), 0);
  });
});
