import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAgmsgHome } from '../../../test/kit/agmsg-store.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { checkAgmsg } from './doctor.ts';
import { findAgmsgPlaces, openAgmsg } from './open.ts';
import type { AgmsgSettings } from './settings.ts';

const never = new AbortController().signal;
const host = { env: {}, disk: createRealDisk(silentLog), clock: realClock, log: silentLog, contentChars: 220 };

test('switched off, nothing is watched; an installation that is named is, and its place says whether it is there', async () => {
  using agmsg = createAgmsgHome();
  assert.equal(openAgmsg({ agmsg: { is: 'off' } }, host), null);
  const settings: AgmsgSettings = { agmsg: { is: 'auto', roots: [agmsg.root, agmsg.scratch.at('none')] } };
  assert.deepEqual(findAgmsgPlaces(settings, host), [
    { what: 'agmsg teams', where: agmsg.root, found: 'installed' },
    { what: 'agmsg teams', where: agmsg.scratch.at('none'), found: null },
  ]);
  const { hives } = openAgmsg(settings, host) ?? assert.fail();
  assert.equal(await hives[0]?.appears?.(never), 'there');
  assert.deepEqual(await hives[0]?.source.personas(never), []);
});

test('a click opens the project of the newest registration', async () => {
  using agmsg = createAgmsgHome();
  agmsg.writeTeam('crew', ['alice']);
  await using opened = openAgmsg({ agmsg: { is: 'auto', roots: [agmsg.root] } }, host) ?? assert.fail();
  await opened.hives[0]?.source.personas(never);
  const find = (source: string) => opened.findSessions?.({ id: 'agmsg-alice', source, agent: 'unknown' });
  assert.deepEqual(find('agmsg'), [{ persona: 'agmsg-alice', id: 'crew/alice', cwd: '/fields/alice', resume: null }]);
  assert.deepEqual(find('other'), []);
});

test('the doctor counts, and names what is refused or cannot be read', async () => {
  using agmsg = createAgmsgHome();
  const context = { env: {}, clock: realClock, state: '', version: '0' };
  const settings: AgmsgSettings = { agmsg: { is: 'auto', roots: [agmsg.root] } };
  agmsg.writeTeam('crew', ['alice']);
  agmsg.send('crew', 'alice', 'hi');
  assert.deepEqual(await checkAgmsg(settings, context, never), { is: 'ok', seen: '1 agent, 1 unread' });
  agmsg.writeTeam('crew', ['alice', '../x']);
  assert.equal((await checkAgmsg(settings, context, never)).is, 'warn');
  agmsg.run('ALTER TABLE events ADD COLUMN later TEXT');
  assert.equal((await checkAgmsg(settings, context, never)).is, 'fail');
});
