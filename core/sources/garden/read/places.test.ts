import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeGardenPlaces } from './liveness-reader.ts';

const at = (env: Record<string, string>, store?: string): ReturnType<typeof computeGardenPlaces> =>
  computeGardenPlaces({ env, store, home: '/h', cwd: '/c' });

test('without anything set a store is below ~/.pi/agent', () => {
  const nothing = {
    sessions: '/h/.pi/agent/meta-sessions',
    mailbox: '/h/.pi/agent/meta-mailbox',
    senders: '/h/.pi/agent/meta-senders',
    receivers: '/h/.pi/agent/meta-receivers',
    sockets: '/h/.pi/entwurf-control',
  };
  assert.deepEqual(at({}), nothing);
  assert.deepEqual(at({ PI_CODING_AGENT_DIR: '', PI_META_SESSIONS_DIR: '', ENTWURF_DIR: '' }), nothing);
});

test('each override of either generation wins over the agent directory, and the newer one over the older', () => {
  for (const name of ['sessions', 'mailbox', 'senders', 'receivers'] as const) {
    const variable = `META_${name.toUpperCase()}_DIR`;
    const env = { PI_CODING_AGENT_DIR: '/a' };
    assert.equal(at(env)[name], `/a/meta-${name}`);
    assert.equal(at({ ...env, [`PI_${variable}`]: '/p' })[name], '/p');
    assert.equal(at({ ...env, [`ENTWURF_${variable}`]: '/e' })[name], '/e');
    assert.equal(at({ ...env, [`PI_${variable}`]: '/p', [`ENTWURF_${variable}`]: '/e' })[name], '/e');
    assert.equal(at({ [`ENTWURF_${variable}`]: '', [`PI_${variable}`]: '/p' })[name], '/p');
  }
  assert.equal(at({ ENTWURF_DIR: '/s' }).sockets, '/s');
});

test('a store that is named has all of it below, whatever the environment says', () => {
  const { sessions, receivers } = at({ PI_META_SESSIONS_DIR: '/p', PI_CODING_AGENT_DIR: '/a' }, 'here');
  assert.deepEqual([sessions, receivers], ['/c/here/meta-sessions', '/c/here/meta-receivers']);
});

test('a tilde alone or before a slash is home, and in any other place a character; what is relative is below cwd', () => {
  const sessions = (path: string): string => at({ PI_META_SESSIONS_DIR: path }).sessions;
  assert.deepEqual(['~', '~/x', '~me/x', 'a/~/b', '/x/../y'].map(sessions), [
    '/h',
    '/h/x',
    '/c/~me/x',
    '/c/a/~/b',
    '/y',
  ]);
});
