import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeForeign, toCommandEnv } from './codex.node.ts';

const FIRST = { HIVEBAR_PERSONA: 'ada', HIVEBAR_SESSION: 't1', TMUX: '/t,1,0', TMUX_PANE: '%0', TERM_SESSION_ID: 'x' };

test('C9 what a server of Codex hands on of its first agent is left out, and nothing else', () => {
  const env = { ...FIRST, HOME: '/h', CODEX_THREAD_ID: 't2' };
  assert.deepEqual(
    removeForeign(env, () => true),
    { HOME: '/h', CODEX_THREAD_ID: 't2' },
  );
  assert.equal(
    removeForeign(env, () => false),
    env,
  );
});

test('C9 a command outside of Codex is not looked into; one inside is, where its environment says anything', () => {
  const fails = () => assert.fail('nothing is to be looked up');
  const outside = { ...FIRST, HOME: '/h' };
  assert.equal(toCommandEnv(outside, fails), outside);
  const says = { CODEX_THREAD_ID: 't2', HOME: '/h' };
  assert.equal(toCommandEnv(says, fails), says);
  assert.deepEqual(
    toCommandEnv({ ...FIRST, ...says }, () => true),
    says,
  );
});
