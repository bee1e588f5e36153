import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { openDatabase } from '../../core/state/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { openSessionStore } from '../open/index.ts';
import { createSessionFinder, toNamedSessions } from './ended-sessions.ts';

function rig(primary: string) {
  const space = scratch();
  mkdirSync(space.at('config'));
  space.write('config/config.json', JSON.stringify({ primary: { is: primary } }));
  const sessions = openSessionStore(openDatabase(':memory:'));
  const rest = { cwd: '/w', pane: null, runner: { pid: 1, startKey: null }, resume: null };
  return {
    sessions,
    config: space.at('config'),
    set: (persona: string, id: string) => sessions.set({ persona, id, ...rest }, 1),
    find: (id: string) => createSessionFinder(sessions, space.at('config'))(id).map((session) => session.id),
    [Symbol.dispose]: () => space[Symbol.dispose](),
  };
}

test('beside another primary hive, the local persona is found by name and id, and never for the other of its name', () => {
  using r = rig('kijito');
  r.set('ada', 's1');
  assert.deepEqual(r.find('local-ada'), ['s1']);
  r.set('local-ada', 's2');
  assert.deepEqual([r.find('local-ada'), r.find('ada')], [['s2'], ['s1']], 'its own first');
  r.set('local-bo', 's3');
  assert.deepEqual([r.find('local-bo'), r.find('bo'), r.find('garden-bo')], [['s3'], [], []]);
});

test('given the local hive as the primary, a persona is found by its id of before', () => {
  using r = rig('local');
  r.set('local-ada', 's1');
  assert.deepEqual([r.find('ada'), r.find('local-ada'), r.find('bo')], [['s1'], ['s1'], []]);
});

test('sessions are of the name of the local hive, where items, gates and decisions are', () => {
  for (const primary of ['local', 'kijito']) {
    using r = rig(primary);
    for (const persona of ['ada', 'local-ada', 'garden-x', 'local-']) r.set(persona, persona);
    const named = toNamedSessions(r.sessions.listAll(), r.config).map(({ id, persona }) => [id, persona]);
    assert.deepEqual(Object.fromEntries(named), {
      ...{ ada: 'ada', 'local-ada': 'ada', 'garden-x': 'garden-x', 'local-': 'local-' },
    });
  }
});
