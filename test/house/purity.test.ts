import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { impurities } from './purity.ts';
import { programFiles, sourceFile } from './source-file.ts';

const found = (path: string, text: string): readonly string[] => impurities([sourceFile(path, text)]);

describe('purity by file name', () => {
  test('system calls stand in *.node.ts only', () => {
    assert.deepEqual(impurities(programFiles()), []);
  });

  const impure = [
    `import { readFileSync } from 'node:fs';`,
    `import { readFile } from 'node:fs/promises';`,
    `import net from 'net';`,
    `export { connect } from 'node:net';`,
    `const { DatabaseSync } = await import('node:sqlite');`,
    `import { Pool } from 'undici';`,
    `import koffi from 'koffi';`,
    `import { type A, WebSocket } from 'ws';`,
    'const at = Date.now();',
    'const at = new Date(0) as unknown;',
    'const home = process.env.HOME;',
    'const wait = (f: () => void) => setTimeout(f, 1);',
    'const later = { setTimeout };',
    `const x = globalThis['fetch'];`,
    'const x = (fetch)("http://a");',
    'function f(x = console) {}',
    'const id = Math.random();',
  ];
  for (const text of impure) {
    test(`is broken by: ${text}`, () => {
      assert.equal(found('core/a/a.ts', text).length, 1);
      assert.deepEqual(found('core/a/a.node.ts', text), []);
    });
  }

  const pure = [
    `import type { Socket } from 'node:net';`,
    `import { createHash } from 'node:crypto';`,
    'clock.setTimeout(f, 1);',
    'const ports = { fetch: f, process: 1 };',
    'let at: Date;',
    'const at = Date.UTC(2026, 0);',
    'interface A { fetch(): void; console: Console }',
    'const text = "Date process fetch"; // setTimeout',
    'class A { process(): void {} }',
  ];
  for (const text of pure) {
    test(`is kept by: ${text}`, () => assert.deepEqual(found('core/a/a.ts', text), []));
  }
});
