import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RESERVED_PREFIXES, SOURCE_PREFIXES } from '../../core/model/index.ts';
import { toSourceId } from '../../core/sources/brainclaw/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { RESERVED_NAMES } from '../config/tray/index.ts';
import { locateInbox } from './inbox-location.node.ts';

test('C8 the hook knows every source: a persona of each comes with an event file, and one of the local hive does not', () => {
  using config = scratch();
  config.write('config.json', JSON.stringify({ primary: { is: 'local' }, hives: [{ name: 'team' }] }));
  for (const [source, prefix] of Object.entries(SOURCE_PREFIXES)) {
    const { name, isFollowed } = locateInbox(`${prefix}ada`, config.dir);
    assert.equal(isFollowed, source !== 'local', source);
    assert.equal(name, source === 'local' ? 'ada' : `${prefix}ada`, source);
    assert.ok(
      (RESERVED_NAMES as readonly string[]).includes(prefix.slice(0, -1)),
      `no further hive is called ${prefix}`,
    );
  }
  assert.equal(locateInbox('team-ada', config.dir).isFollowed, true);
  assert.equal(locateInbox('ada', config.dir).isFollowed, false);
  assert.ok(toSourceId({ id: 'x' }).startsWith(SOURCE_PREFIXES.brainclaw));
});

test('C8 no source makes ids with a prefix of its own: each takes that of the one list, and nobody spells one by hand', () => {
  const root = join(import.meta.dirname, '..', '..');
  const sources = join(root, 'core', 'sources');
  // The ids of hives are made of the prefix that they are given.
  const folders = readdirSync(sources).filter(
    (name) => statSync(join(sources, name)).isDirectory() && name !== 'kijito',
  );
  const texts = (folder: string): readonly (readonly [string, string])[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')] as const);
  for (const folder of folders) {
    assert.ok(Object.hasOwn(SOURCE_PREFIXES, folder), `${folder} is in the list`);
    const uses = texts(join(sources, folder)).some(([, text]) => text.includes(`SOURCE_PREFIXES.${folder}`));
    assert.ok(uses, `${folder} makes its ids from the list`);
  }
  const byHand = RESERVED_PREFIXES.flatMap((prefix) =>
    [...texts(join(root, 'app')), ...texts(join(root, 'core'))]
      .filter(([path]) => !path.endsWith('source-prefix.ts'))
      .filter(([, text]) => text.includes(`'${prefix}'`) || text.includes(`\`${prefix}\${`))
      .map(([path]) => `${path} spells ${prefix}`),
  );
  assert.deepEqual(byHand, []);
});
