import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHANNELS } from '../../app/notify/channels/index.ts';
import { programFiles, ROOT } from './source-file.ts';

const FOLDER = join(ROOT, 'docs/guides/channels');

test('every channel of the registry has a page among the guides, and every such page is of a channel', () => {
  const names = CHANNELS.map(({ name }) => `${name}.md`);
  assert.deepEqual(readdirSync(FOLDER).sort(), names.toSorted());
  assert.equal(new Set(names).size, CHANNELS.length, 'a name stands once');
});

test('the policy knows no channel by name', () => {
  const policy = /^app\/notify\/(policy|draft|state|mail|decisions|outage|texts|announcer)\.ts$/;
  const files = programFiles().filter(({ path }) => policy.test(path));
  assert.equal(files.length, 8);
  const named = files.filter(({ text }) => CHANNELS.some(({ name }) => text.includes(`'${name}'`)));
  assert.deepEqual(
    named.map(({ path }) => path),
    [],
  );
});
