import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LOCAL_PREFIX } from '../../core/model/index.ts';
import { toSourceId } from '../../core/sources/brainclaw/index.ts';
import { RESERVED_NAMES, SOURCE_PREFIXES } from '../../core/sources/derived.ts';
import { SOURCES } from '../../core/sources/registry.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { locateInbox } from './stamps.node.ts';

test('C8 the hook knows every source: a persona of each comes with an event file, and one of the local hive does not', () => {
  using config = scratch();
  config.write(
    'config.json',
    JSON.stringify({ primary: { is: 'local' }, hives: [{ name: 'team' }], sources: [{ name: 'mail' }] }),
  );
  for (const prefix of [LOCAL_PREFIX, ...SOURCE_PREFIXES]) {
    // What Claude Code and Codex name is a number; people give their names to personas.
    const rest = prefix === 'claude-' ? '870b7983' : prefix === 'codex-' ? '870b7983db38' : 'ada';
    const { name, isFollowed } = locateInbox(`${prefix}${rest}`, config.dir);
    const isLocal = prefix === LOCAL_PREFIX;
    assert.equal(isFollowed, !isLocal, prefix);
    assert.equal(name, isLocal ? rest : `${prefix}${rest}`, prefix);
    assert.ok(RESERVED_NAMES.includes(prefix.slice(0, -1)), `no further hive is called ${prefix}`);
  }
  assert.equal(locateInbox('team-ada', config.dir).isFollowed, true);
  for (const name of ['ada', 'claude-main', 'codex-1', 'claude-870b7983x'])
    assert.equal(locateInbox(name, config.dir).isFollowed, false, name);
  assert.equal(locateInbox('mail-ada', config.dir).isFollowed, true);
  assert.ok(toSourceId({ id: 'x' }).startsWith(SOURCES.brainclaw.prefix));
});

test('C8 no source makes ids with a prefix of its own: each takes that of its module, and nobody else spells one by hand', () => {
  const root = join(import.meta.dirname, '..', '..');
  const sources = join(root, 'core', 'sources');
  const folders = readdirSync(sources).filter((name) => statSync(join(sources, name)).isDirectory());
  const shared = ['mail-folders']; // the reader of two sources
  const own = folders.filter((name) => !shared.includes(name));
  assert.deepEqual(own, Object.keys(SOURCES).sort(), 'each folder has a row in the registry');
  const texts = (folder: string): readonly (readonly [string, string])[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')] as const);
  const settingsFiles = Object.keys(SOURCES).map((name) => join(sources, name, 'settings.ts'));
  const byHand = SOURCE_PREFIXES.flatMap((prefix) =>
    [...texts(join(root, 'app')), ...texts(join(root, 'core'))]
      .filter(([path]) => !settingsFiles.includes(path))
      .filter(([, text]) => text.includes(`'${prefix}'`) || text.includes(`\`${prefix}\${`))
      .map(([path]) => `${path} spells ${prefix}`),
  );
  assert.deepEqual(byHand, []);
});
