import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findBadNames } from './names.ts';
import { programFiles, sourceFile } from './source-file.ts';

describe('names', () => {
  test('the program keeps the rules', () => {
    assert.deepEqual(findBadNames(programFiles()), []);
  });

  const bad: readonly (readonly [string, string])[] = [
    ['core/a.ts', 'function textOf() {}'],
    ['core/a.ts', 'const textOf = () => 1;'],
    ['core/a.ts', 'const its = 1;'],
    ['core/a.ts', 'for (const one of []) {}'],
    ['core/a.ts', 'const { a: of } = b;'],
    ['core/a.ts', 'type A = 1; interface A {}'],
    ['core/keep-a.ts', ''],
    ['core/words-of.node.ts', ''],
  ];
  for (const [path, text] of bad) {
    test(`${path} breaks them with: ${text}`, () => {
      assert.equal(findBadNames([sourceFile(path, text)]).length, 1);
    });
  }

  const good = [
    'const indexOf = 1;',
    'function toText() {}',
    'const holds = 1; const keep = 2;',
    'interface A { asOf: 1 }',
  ];
  for (const text of good) {
    test(`they are kept by: ${text}`, () => assert.deepEqual(findBadNames([sourceFile('core/a.ts', text)]), []));
  }
});
