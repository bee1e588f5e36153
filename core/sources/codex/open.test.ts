import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createJumpingClock } from '../../../test/conformance/source-rig.ts';
import { createCodexHome } from '../../../test/kit/codex-queue.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realClock, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { SourceHost } from '../module.ts';
import { findCodexHome, findCodexPlaces, openCodex } from './open.ts';

function createHost(env: SourceHost['env'] = {}): Parameters<typeof openCodex>[1] {
  return {
    ...{ env, disk: createRealDisk(silentLog), clock: createJumpingClock(realClock), log: silentLog },
    ...{ contentChars: 220, put: () => {}, findSessionPersona: () => null },
  };
}

test('the folder is that of the settings, else of the environment, else of this user', () => {
  assert.equal(findCodexHome('/named', { CODEX_HOME: '/other' }), '/named');
  assert.equal(findCodexHome(undefined, { CODEX_HOME: '/other' }), '/other');
  assert.match(findCodexHome(undefined, { CODEX_HOME: '' }), /\.codex$/);
});

test('switched off, nothing is watched; without a queue its place is named, and nothing is there', () => {
  assert.equal(openCodex({ codex: { is: 'off' } }, createHost()), null);
  using folder = scratch();
  const host = createHost({ CODEX_HOME: folder.dir });
  assert.deepEqual(findCodexPlaces({ codex: { is: 'auto' } }, host), [
    { what: 'Codex queue', where: folder.dir, found: null },
  ]);
  folder.write('queue_2.sqlite', '');
  folder.write('queue_10.sqlite', '');
  assert.equal(findCodexPlaces({ codex: { is: 'auto' } }, host)[0]?.found, 'queue_10.sqlite');
});

test('a queue that is there is there, and one that comes later came, so that its mail is news', async () => {
  using codex = createCodexHome();
  const { hives } = openCodex({ codex: { is: 'auto', home: codex.home } }, createHost()) ?? assert.fail();
  assert.equal(await hives[0]?.appears?.(new AbortController().signal), 'there');
  using folder = scratch();
  mkdirSync(folder.at('home'));
  writeFileSync(join(folder.dir, 'unrelated'), '');
  const later = openCodex({ codex: { is: 'auto', home: folder.at('home') } }, createHost()) ?? assert.fail();
  const abort = new AbortController();
  const appears = later.hives[0]?.appears?.(abort.signal);
  abort.abort();
  assert.equal(await appears, 'came');
});

test('a click resumes the thread in its folder, as arguments', async () => {
  using codex = createCodexHome();
  const thread = codex.addThread('ada');
  codex.enqueue(thread, 'one');
  await using opened = openCodex({ codex: { is: 'auto', home: codex.home } }, createHost()) ?? assert.fail();
  const [persona] = (await opened.hives[0]?.source.personas(new AbortController().signal)) ?? [];
  const find = (id: string, source = 'codex') => opened.findSessions?.({ id, source, agent: 'gone' });
  assert.deepEqual(find(persona?.id ?? ''), [
    { persona: persona?.id, id: thread, cwd: '/fields/ada', resume: ['codex', 'resume', thread] },
  ]);
  assert.deepEqual([find('codex-none'), find(persona?.id ?? '', 'other')], [[], []]);
});
