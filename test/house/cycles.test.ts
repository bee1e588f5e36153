import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCycles } from './cycles.ts';
import { programFiles, sourceFile } from './source-file.ts';

test('no file of the program imports itself by way of others, not even for a type', () => {
  assert.deepEqual(findCycles(programFiles()), []);
});

test('a circle of two, of three, and one beside it are found; a file that many import is none', () => {
  const files = [
    sourceFile('core/a.ts', `import type { B } from './b.ts';`),
    sourceFile('core/b.ts', `import { a } from './a.ts'; import { shared } from './shared.ts';`),
    sourceFile('core/c.ts', `export * from './d.ts';`),
    sourceFile('core/d.ts', `const e = await import('./e.ts');`),
    sourceFile('core/e.ts', `type X = import('./c.ts').X; import { shared } from './shared.ts';`),
    sourceFile('core/shared.ts', ''),
  ];
  assert.deepEqual(findCycles(files), [
    ['core/a.ts', 'core/b.ts'],
    ['core/c.ts', 'core/d.ts', 'core/e.ts'],
  ]);
});
