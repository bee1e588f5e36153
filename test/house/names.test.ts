import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findBadNames } from './names.ts';
import { codeFiles, sourceFile } from './source-file.ts';

describe('names', () => {
  test('the program and its tests keep the rules', () => {
    assert.deepEqual(findBadNames(codeFiles()), []);
  });

  const bad: readonly (readonly [string, string])[] = [
    ['core/a.ts', 'function textOf() {}'],
    ['core/a.ts', 'const textOf = () => 1;'],
    ['core/a.ts', 'const its = 1;'],
    ['core/a.ts', 'const f = (what: string) => what;'],
    ['core/a.ts', 'for (const one of []) {}'],
    ['core/a.ts', 'const { a: of } = b;'],
    ['core/a.ts', 'type A = 1; interface A {}'],
    ['core/a.test.ts', 'const textOf = () => 1;'],
    ['core/a.ts', 'interface A { textOf(): string }'],
    ['test/kit/a.ts', 'class A { textOf() {} }'],
    ['test/kit/a.ts', 'const f = (one: string) => one;'],
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

  test('they are kept by two files of tests, each with a type of its own', () => {
    const files = ['core/a.test.ts', 'test/e2e/b.test.ts'].map((path) => sourceFile(path, 'interface A {}'));
    assert.deepEqual(findBadNames(files), []);
  });
});
