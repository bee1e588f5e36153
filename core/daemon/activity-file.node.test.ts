import assert from 'node:assert/strict';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { until } from '../../test/kit/until.ts';
import { realClock } from '../ports/index.ts';
import { watchActivityFile } from './files.node.ts';

test('given a file that is not there yet, its first write is heard, and each later one, also after it was removed', async () => {
  using state = scratch();
  const path = state.at('ada');
  const heard: number[] = [];
  const words: (string | null)[] = [];
  const hears = (at: number, word: string | null): void => {
    heard.push(at);
    words.push(word);
  };
  using _ = watchActivityFile(path, { clock: realClock, heard: hears, failed: assert.fail });
  for (const content of ['Stop', 'UserPromptSubmit', 'Stop']) {
    const before = heard.length;
    writeFileSync(path, content);
    await until(`the write of ${content}`, () => heard.length > before && heard.at(-1) === statSync(path).mtimeMs);
    assert.equal(words.at(-1), content);
  }
  rmSync(path);
  writeFileSync(path, 'again');
  await until('the write after the removal', () => heard.at(-1) === statSync(path).mtimeMs);
  const before = heard.length;
  writeFileSync(path, 'once more');
  await until('the write to the new file', () => heard.length > before && heard.at(-1) === statSync(path).mtimeMs);
});

test('given a neighbour that is written, nothing is heard', async () => {
  using state = scratch();
  const heard: string[] = [];
  const needs = (name: string) => ({ clock: realClock, heard: () => heard.push(name), failed: assert.fail });
  using _ada = watchActivityFile(state.at('ada'), needs('ada'));
  using _river = watchActivityFile(state.at('river'), needs('river'));
  writeFileSync(state.at('river'), 'Stop');
  await until('the write', () => heard.includes('river'));
  assert.ok(!heard.includes('ada'));
});

test('given a directory that is not there, it is said once that nothing will be heard', () => {
  using state = scratch();
  const failed: string[] = [];
  using _ = watchActivityFile(state.at('no', 'ada'), {
    clock: realClock,
    heard: () => assert.fail('nobody wrote'),
    failed: (why) => failed.push(why),
  });
  assert.equal(failed.length, 1);
});
