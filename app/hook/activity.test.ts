import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { noteActivity, readActivity } from './prompts.node.ts';

test('given a moment that is noted, it and its time are known, privately; given none, nothing is', () => {
  using state = scratch();
  const before = Date.now() - 1000;
  assert.equal(readActivity(state.dir, 'Ada'), null);
  noteActivity(state.dir, 'Ada', 'PostToolUse');
  noteActivity(state.dir, 'Ada', 'Stop');
  const found = readActivity(state.dir, 'Ada');
  assert.equal(found?.moment, 'Stop');
  assert.ok((found?.at ?? 0) > before);
  assert.equal(readActivity(state.dir, 'ada'), null);
  assert.equal(statSync(state.at('activity')).mode & 0o777, 0o700);
});

test('given a folder that cannot be written to, noting fails in no way', () => {
  using state = scratch();
  writeFileSync(state.at('activity'), '');
  noteActivity(state.dir, 'ada', 'Stop');
  assert.equal(readActivity(state.dir, 'ada'), null);
  mkdirSync(state.at('run/activity/ada'), { recursive: true });
  assert.equal(readActivity(state.at('run'), 'ada'), null);
});
