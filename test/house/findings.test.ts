import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { projectFiles, ROOT } from './source-file.ts';

/** The numbers that the names of tests in a text begin with: `test('A1 B2 given ...'`. */
function findingsIn(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:test|describe)\(\s*['"`]((?:[A-G]\d+ )+)/g)].flatMap(([, numbers = '']) =>
    numbers.trim().split(' '),
  );
}

test('every finding of the list has a test that begins with its number, and every such number is in the list', () => {
  const list = readFileSync(join(ROOT, 'docs/specs/findings.md'), 'utf8');
  const listed = [...list.matchAll(/^\| ([A-G]\d+) \|/gm)].map(([, number]) => number);
  assert.equal(listed.length, 64);
  const tests = projectFiles().filter((path) => path.endsWith('.test.ts') && path !== 'test/house/findings.test.ts');
  const tested = new Set(tests.flatMap((path) => findingsIn(readFileSync(join(ROOT, path), 'utf8'))));
  assert.deepEqual([...tested].sort(), listed.toSorted());
});

test('the numbers are found in names, not in words', () => {
  const text = `test('A1 a'); describe(\`B2 C10 b\`); test("G3 c"); test('D9: d'); test('S1: e'); // test of F6`;
  assert.deepEqual(findingsIn(text), ['A1', 'B2', 'C10', 'G3']);
});
