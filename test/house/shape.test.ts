import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { misshapen } from './shape.ts';
import { projectFiles, ROOT, sourceFile } from './source-file.ts';

const found = (path: string, text: string): readonly string[] => misshapen([sourceFile(path, text)]);

describe('shape of the code', () => {
  test('the whole project keeps it', () => {
    const files = projectFiles()
      .filter((path) => /\.(ts|mjs)$/.test(path))
      .map((path) => sourceFile(path, readFileSync(join(ROOT, path), 'utf8')));
    assert.ok(files.length > 50);
    assert.deepEqual(misshapen(files), []);
  });

  const bad: readonly (readonly [string, string])[] = [
    ['core/a.ts', 'enum A { b }'],
    ['core/a.ts', 'namespace A { export const b = 1 }'],
    ['core/a.ts', 'class A { constructor(readonly b: string) {} }'],
    ['core/a.ts', 'const a: any = 1;'],
    ['core/a.ts', `// @ts-${'ignore'}`],
    ['core/a.ts', `/* ${'TO'}${'DO'}: later */`],
    ['core/a.ts', 'export default 1;'],
    ['core/a.ts', 'try { f(); } catch {}'],
    ['core/a.ts', 'try { f(); } catch (error) { g(); }'],
    ['core/a.test.ts', `test.only('a', f);`],
    ['core/a.test.ts', 't.skip();'],
    ['core/a.test.ts', `test('a', { skip: true }, f);`],
    ['core/a.test.ts', `test('a', { todo: 'x' }, f);`],
  ];
  for (const [path, text] of bad) {
    test(`${path} is misshapen by: ${text}`, () => assert.equal(found(path, text).length, 1));
  }

  const good: readonly (readonly [string, string])[] = [
    ['core/a.ts', 'try { f(); } catch { a = null; /* a torn line is an answer */ }'],
    ['core/a.ts', 'try { f(); } catch (error) { throw new B(error); }'],
    ['core/a.ts', 'try { f(); } catch (error) { reject(error); }'],
    ['core/a.ts', `const text = '${'TO'}${'DO'}';`],
    ['core/a.ts', 'iterator.skip(1); const o = { skip: true };'],
    ['core/a.test.ts', `test('a', { timeout: 1 }, f); take.skip(1);`],
    ['core/a.test.ts', `test('a', { skip: missing() }, f); test('b', { skip }, f);`],
  ];
  for (const [path, text] of good) {
    test(`${path} is well shaped with: ${text}`, () => assert.deepEqual(found(path, text), []));
  }
});
