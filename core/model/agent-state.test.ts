import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AGENT_STATE_NOT_REPORTED, chooseAgentState } from './index.ts';

describe('which report of an agent counts', () => {
  const poll = { is: 'stalled', why: 'mail lies' } as const;
  const session = { is: 'working', since: 2000 } as const;
  const hook = { is: 'idle', since: 1000 } as const;

  test('a process that ended does nothing, whatever else is said', () => {
    const gone = { is: 'gone', why: 'process-ended' } as const;
    assert.equal(chooseAgentState({ hook: { is: 'waiting', why: 'permission' }, session: gone, poll }), gone);
  });

  test('an agent that waits for a person comes before mail that lies, and that before what it does', () => {
    const waiting = { is: 'waiting', why: 'input' } as const;
    assert.equal(chooseAgentState({ poll, session: waiting, hook }), waiting);
    assert.equal(chooseAgentState({ poll, session }), poll);
  });

  test('an agent that went on since does not wait any more', () => {
    const waiting = { is: 'waiting', why: 'permission', since: 1500 } as const;
    assert.equal(chooseAgentState({ hook: waiting, session }), session);
    assert.equal(chooseAgentState({ session: waiting, hook }), waiting);
    assert.equal(chooseAgentState({ session: waiting, hook, poll: { is: 'live' } }), waiting);
  });

  test('an agent whose model cannot be asked looks idle to others, and goes on only when it works', () => {
    const failed = { is: 'waiting', why: 'failed-rate-limit', since: 1500 } as const;
    assert.equal(chooseAgentState({ hook: failed, session: { is: 'idle', since: 9000 } }), failed);
    assert.equal(chooseAgentState({ hook: failed, session }), session);
  });

  test('else what began last counts, and of equal ones the report of the closest', () => {
    assert.equal(chooseAgentState({ hook, session }), session);
    assert.equal(chooseAgentState({ hook: { ...hook, since: 3000 }, session }).is, 'idle');
    assert.equal(chooseAgentState({ session, hook: { ...hook, since: 2000 } }).is, 'idle');
  });

  test('folder and model come from another report where the one that counts leaves them out', () => {
    const state = chooseAgentState({ hook: { ...hook, cwd: '/w/a' }, session, poll: { is: 'live', model: 'm1' } });
    assert.deepEqual(state, { ...session, cwd: '/w/a', model: 'm1' });
    assert.equal(chooseAgentState({ hook, session: { ...session, cwd: '/w/b' } }).cwd, '/w/b');
  });

  test('a decision that it waits for counts whatever it does, but after a prompt; when it is closed, what else is said counts', () => {
    const decision = { id: 7, since: 1500 };
    const deciding = { is: 'waiting', why: 'decision', since: 1500, decision: 7 } as const;
    const prompt = { is: 'waiting', why: 'permission', since: 1700 } as const;
    assert.deepEqual(chooseAgentState({ decision }), deciding);
    assert.deepEqual(chooseAgentState({ poll, session: { ...session, cwd: '/w/a' }, hook, decision }), {
      ...deciding,
      cwd: '/w/a',
    });
    assert.equal(chooseAgentState({ hook: prompt, decision }), prompt);
    assert.deepEqual(chooseAgentState({ hook: { is: 'idle', since: 1900 }, session: prompt, decision }), deciding);
    assert.deepEqual(chooseAgentState({ session, decision: null }), { ...session, decision: null });
    assert.deepEqual(chooseAgentState({ decision: null }), { ...AGENT_STATE_NOT_REPORTED, decision: null });
  });

  test('a process that ended waits for no decision, unless the question came after its end', () => {
    const gone = { is: 'gone', why: 'process-ended', since: 1000 } as const;
    assert.equal(chooseAgentState({ session: gone, decision: { id: 7, since: 900 } }), gone);
    assert.equal(chooseAgentState({ session: gone, decision: { id: 7, since: 1100 } }).is, 'waiting');
  });

  test('who knows nothing hides nobody', () => {
    assert.equal(chooseAgentState({ hook: { is: 'unknown', why: 'no-status' }, poll: { is: 'live' } }).is, 'live');
    assert.equal(chooseAgentState({ poll: { is: 'unknown', why: 'reconciling' } }).why, 'reconciling');
    assert.equal(chooseAgentState({}), AGENT_STATE_NOT_REPORTED);
  });
});
