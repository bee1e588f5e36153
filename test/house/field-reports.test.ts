import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { projectFiles, ROOT } from './source-file.ts';

/** The numbers that the names of tests in a text begin with: `test('S2 S3: ...'`. */
function reportsIn(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:test|describe)\(\s*['"`]((?:S\d+ ?)+):/g)].flatMap(([, numbers = '']) =>
    numbers.split(' '),
  );
}

test('every field report of the list has a test that begins with its number, and every such number is in the list', () => {
  const list = readFileSync(join(ROOT, 'docs/specs/field-reports.md'), 'utf8');
  const listed = [...list.matchAll(/^\| (S\d+) \|/gm)].map(([, number]) => number);
  assert.equal(listed.length, 19);
  const tests = projectFiles().filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/house/'));
  const tested = new Set(tests.flatMap((path) => reportsIn(readFileSync(join(ROOT, path), 'utf8'))));
  assert.deepEqual([...tested].sort(), listed.toSorted());
});

test('the numbers are found in names, not in words', () => {
  const text = `test('S1: a'); describe(\`S2 S3: b\`); test("S4: c"); test('S5 d'); // S6: e`;
  assert.deepEqual(reportsIn(text), ['S1', 'S2', 'S3', 'S4']);
});
