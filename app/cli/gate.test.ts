import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Session } from '../open/index.ts';
import { type CallerEvidence, type GateCaller, identifyCaller } from './caller-persona.ts';

function session(persona: string, id: string | null, cwd: string, announcedAt = 0): Session {
  const rest = { pane: null, runner: { pid: 1, startKey: null }, resume: null, endedAt: null };
  return { persona, id, cwd, announcedAt, ...rest };
}

function who(live: readonly Session[], evidence: Partial<CallerEvidence>): GateCaller {
  const resolveName = (persona: string): string => persona.replace(/^local-/, '');
  return identifyCaller(
    { persona: undefined, session: undefined, env: {}, cwd: '/', resolveName: resolveName, ...evidence },
    () => live,
  );
}

describe('whose gate it is', () => {
  const live = [session('ada', 'a2', '/p/app'), session('ada', 'a1', '/p/app'), session('bo', 'b1', '/p')];

  test('flags go before the environment, and then nobody is asked', () => {
    const env = { HIVEBAR_PERSONA: 'cy', HIVEBAR_SESSION: 'c1' };
    const evidence = {
      persona: undefined,
      session: undefined,
      env,
      cwd: '/',
      resolveName: (persona: string) => persona,
    };
    assert.deepEqual(identifyCaller({ ...evidence, persona: 'ada' }, assert.fail), { persona: 'ada', session: 'c1' });
    assert.deepEqual(identifyCaller(evidence, assert.fail), { persona: 'cy', session: 'c1' });
  });

  test('a session knows its persona', () => {
    assert.deepEqual(who(live, { session: 'b1', cwd: '/p/app' }), { persona: 'bo', session: 'b1' });
    assert.deepEqual(who(live, { session: 'x' }), { persona: null, session: 'x' });
    assert.deepEqual(who([...live, session('cy', 'b1', '/q')], { session: 'b1' }), { persona: null, session: 'b1' });
  });

  test('a folder is its newest session, or that of the nearest folder above', () => {
    assert.deepEqual(who(live, { cwd: '/p/app/src' }), { persona: 'ada', session: 'a2' });
    assert.deepEqual(who(live, { cwd: '/p/application' }), { persona: 'bo', session: 'b1' });
    assert.deepEqual(who(live, { cwd: '/q' }), { persona: null, session: null });
    assert.deepEqual(who([session('root', 'r', '/')], { cwd: '/q' }), { persona: 'root', session: 'r' });
  });

  test('a persona that is named has its own session here or none', () => {
    assert.deepEqual(who(live, { persona: 'bo', cwd: '/p/app' }), { persona: 'bo', session: 'b1' });
    assert.deepEqual(who(live, { env: { HIVEBAR_PERSONA: 'cy' }, cwd: '/p' }), { persona: 'cy', session: null });
  });

  test('whatever form of its id is given or kept, a persona is its name in the local hive', () => {
    const saved = [session('local-ada', 'a3', '/r')];
    assert.deepEqual(who(saved, { session: 'a3' }), { persona: 'ada', session: 'a3' });
    assert.deepEqual(who(saved, { cwd: '/r' }), { persona: 'ada', session: 'a3' });
    for (const persona of ['ada', 'local-ada'])
      assert.deepEqual(who(saved, { persona, cwd: '/r' }), { persona: 'ada', session: 'a3' });
    const both = [...saved, session('ada', 'a4', '/r')];
    assert.deepEqual(who(both, { cwd: '/r' }), { persona: 'ada', session: 'a3' });
  });

  test('inbox-gates 8.8a: two personas in one folder are nobody, so that none marks the gate of the other', () => {
    const both = [session('ada', 'a1', '/p'), session('bo', 'b1', '/p')];
    assert.deepEqual(who(both, { cwd: '/p' }), { persona: null, session: null });
    assert.deepEqual(who(both, { persona: 'bo', cwd: '/p' }), { persona: 'bo', session: 'b1' });
  });
});
