import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { projectFiles, ROOT } from './source-file.ts';

/** `trap 14`, `traps 28, 29, 47`, `traps 14 to 21` and `D2` in what is said of tests: names, and rows of tables of names. */
function numbersIn(text: string): readonly string[] {
  const said = [...text.matchAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)].map(([words]) => words);
  return said.flatMap((words) => [
    ...[...words.matchAll(/\btraps? (\d+(?:(?:, | and | to )\d+)*)/g)].flatMap(([, list = '']) => trapsOf(list)),
    ...[...words.matchAll(/\b(D\d+)\b/g)].map(([, number = '']) => number),
  ]);
}

function trapsOf(list: string): readonly string[] {
  const [, from, to] = /^(\d+) to (\d+)$/.exec(list) ?? [];
  const numbers =
    from === undefined
      ? list.split(/, | and /).map(Number)
      : Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
  return numbers.map((number) => `trap ${number}`);
}

test('every trap of the list has a test that names its number', () => {
  const list = readFileSync(join(ROOT, 'docs/KIJITO-TRAPS.md'), 'utf8');
  const listed = [...list.matchAll(/^\| (trap \d+|D\d+) \|/gm)].map(([, number = '']) => number);
  assert.deepEqual(listed, [
    ...Array.from({ length: 70 }, (_, i) => `trap ${i + 1}`),
    ...Array.from({ length: 25 }, (_, i) => `D${i + 1}`),
  ]);
  const tests = projectFiles().filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/house/'));
  const tested = new Set(tests.flatMap((path) => numbersIn(readFileSync(join(ROOT, path), 'utf8'))));
  assert.deepEqual(
    listed.filter((number) => !tested.has(number)),
    [],
  );
});

test('the numbers are found in lists and in rows', () => {
  const text = "test('trap 1: a'); describe(`x (traps 2, 3 and 4)`); ['D5 b'], 'traps 6 to 8'; // trap 9";
  assert.deepEqual(numbersIn(text), ['trap 1', 'trap 2', 'trap 3', 'trap 4', 'D5', 'trap 6', 'trap 7', 'trap 8']);
});
