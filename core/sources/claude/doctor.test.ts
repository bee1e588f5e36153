import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { claudeStore } from '../../../test/kit/claude-store.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import { type ConfigDirectoryProbe, checkClaude, judgeClaude } from './doctor.ts';
import { findClaudePlaces } from './open.ts';

const never = new AbortController().signal;
const probe = (more: Partial<ConfigDirectoryProbe> = {}): ConfigDirectoryProbe => ({
  ...{ root: '/c', sessions: new Map(), teams: new Map(), orphans: 0, sessionsTrouble: null, teamsTrouble: null },
  ...more,
});

test('claude: the doctor counts sessions and teams, and says who cannot be reached', () => {
  assert.deepEqual(judgeClaude([probe()], []), { is: 'ok', seen: '0 sessions, 0 teams' });
  const sessions = new Map(['/s/1', '/s/2', null].map((socketPath, n) => [`${n}`, { file: { socketPath } }]));
  assert.deepEqual(judgeClaude([probe({ sessions, teams: new Map([['a', { boxes: new Map() }]]), orphans: 78 })], []), {
    is: 'ok',
    seen: '3 sessions, 1 team; 1 not reachable by other sessions, because it has no socket; 78 files of sessions that were killed, which Claude Code removes',
  });
  assert.deepEqual(judgeClaude([probe({ sessionsTrouble: 'permission denied' })], ['x: has no text']), {
    is: 'warn',
    seen: '0 sessions, 0 teams; /c/sessions: permission denied (and 1 more)',
    next: 'make it readable for this user; what else is there is watched',
  });
});

test('claude: the doctor looks where the settings say, and says where nothing is', async () => {
  using store = claudeStore();
  const context = { env: {}, clock: realClock, state: store.at('state'), version: '0' };
  const check = (claude: Parameters<typeof checkClaude>[0]['claude']) => checkClaude({ claude }, context, never);
  assert.deepEqual(await check({ is: 'off' }), { is: 'skipped', seen: 'switched off in the settings' });
  assert.deepEqual(await check({ is: 'auto', directories: ['/nowhere/at/all'] }), {
    is: 'skipped',
    seen: '/nowhere/at/all does not exist',
  });
  const seen = await check({ is: 'auto', directories: [store.root] });
  assert.deepEqual(seen, { is: 'ok', seen: '0 sessions, 0 teams' });
});

test('claude: the places it looks at are the config directories, with how many sessions live', () => {
  using store = claudeStore();
  const stat = { pid: process.pid, procStart: 'another' };
  store.addSession('aaaaaaaa', stat);
  const host = {
    ...{ env: { CLAUDE_CONFIG_DIR: store.root }, disk: createRealDisk(silentLog), clock: realClock, log: silentLog },
    ...{ version: '0', reservedIds: [], stop: never },
  };
  const place = { what: 'Claude Code sessions', where: store.root, found: '0 sessions' };
  assert.deepEqual(findClaudePlaces({ claude: { is: 'auto' } }, host), [place]);
  const none = join(store.root, 'none');
  assert.deepEqual(findClaudePlaces({ claude: { is: 'auto', directories: [none] } }, host), [
    { ...place, where: none, found: null },
  ]);
  assert.deepEqual(findClaudePlaces({ claude: { is: 'off' } }, host), []);
});
