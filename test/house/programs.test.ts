import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { programFiles } from './source-file.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('G2 PATH is looked through by one function on every platform', () => {
  const polls = programFiles()
    .map(({ path }) => path)
    .filter((path) => /^(app|core)\/.*\.ts$/.test(path) && !path.endsWith('.test.ts'))
    .filter((path) => /\benv\??\.(PATH|Path|PATHEXT)\b/.test(readFileSync(join(ROOT, path), 'utf8')));
  assert.deepEqual(polls, []);
});
