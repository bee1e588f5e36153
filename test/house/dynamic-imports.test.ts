import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programFiles, type SourceFile, sourceFile } from './source-file.ts';

/** `await import('name')`, with what is taken of it. */
const IMPORT = /(?:const (\{[^}]*\}|\w+) = await )?\bimport\('([^.'][^']*)'\)/g;

/**
 * Returns imports that take a name of a CommonJS package. In the sources Node finds such names, in the package a bundled CommonJS
 * library has only `default`.
 */
function findNamesOfCommonJs(files: readonly SourceFile[], isCommonJs: (specifier: string) => boolean): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].flatMap(([found, names = '', specifier = '']) =>
      specifier.startsWith('node:') || /^\{ default: \w+ \}$/.test(names) || !isCommonJs(specifier)
        ? []
        : [`${path}: ${found}`],
    ),
  );
}

function isCommonJsPackage(specifier: string): boolean {
  const file = fileURLToPath(import.meta.resolve(specifier));
  if (!file.endsWith('.js')) return file.endsWith('.cjs');
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).type !== 'module';
  }
}

describe('imports while the program runs', () => {
  test('take only the default export of a CommonJS package', () => {
    assert.deepEqual(findNamesOfCommonJs(programFiles(), isCommonJsPackage), []);
  });

  test('the rule sees names, a whole module and no assignment, and passes what is right', () => {
    const file = sourceFile(
      'core/a.ts',
      `const { connect } = await import('old');
       const all = await import('old');
       import('old').then(({ a }) => a);
       const { default: library } = await import('old');
       const { b } = await import('new');
       const { c } = await import('node:net');
       const { d } = await import('./d.ts');`,
    );
    assert.deepEqual(
      findNamesOfCommonJs([file], (specifier) => specifier === 'old'),
      [
        "core/a.ts: const { connect } = await import('old')",
        "core/a.ts: const all = await import('old')",
        "core/a.ts: import('old')",
      ],
    );
    assert.equal(isCommonJsPackage('@nats-io/jetstream'), true);
    assert.equal(isCommonJsPackage('@modelcontextprotocol/client'), false);
  });
});
