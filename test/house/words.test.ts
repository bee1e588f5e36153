import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { projectFiles, ROOT } from './source-file.ts';

/** What no file may say. Built from parts, so that this file does not say it either. */
const FORBIDDEN: readonly (readonly [string, RegExp])[] = [
  [
    'a path of the machine it was written on',
    new RegExp(`(?<![\\w.~*-])/(?:${'wo'}rk|${'ro'}ot|${'ho'}me/[a-z])[a-z]*/`),
  ],
  [
    'the host of a package registry',
    new RegExp(`${'npm'}js\\.(org|com)|${'deb'}\\.debian\\.org|registry\\.${'yarn'}pkg`),
  ],
  ['a ticket of somewhere else', new RegExp(`\\b${'iss'}ue #?\\d+\\b`, 'i')],
];

/** Every forbidden thing in a text, with its line. */
function said(path: string, text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      FORBIDDEN.filter(([, pattern]) => pattern.test(line)).map(
        ([what]) => `${path}:${index + 1} names ${what}: ${line.trim()}`,
      ),
    );
}

describe('words of the project', () => {
  test('no file names a machine, a registry host or a ticket', () => {
    const texts = projectFiles()
      .filter((path) => !path.startsWith('test/data/')) // what others made, byte for byte; their home is of nobody
      .map((path) => [path, readFileSync(join(ROOT, path))] as const)
      .filter(([, bytes]) => !bytes.includes(0));
    assert.ok(texts.some(([path]) => path === 'package-lock.json'));
    assert.deepEqual(
      texts.flatMap(([path, bytes]) => said(path, bytes.toString('utf8'))),
      [],
    );
  });

  test('each of them would be found', () => {
    const samples = [`cd ${'/wo'}rk/a`, `"resolved": "https://registry.${'npm'}js.org/a"`, `see ${'iss'}ue 12`];
    assert.deepEqual(
      samples.map((sample) => said('a', sample).length),
      [1, 1, 1],
    );
    assert.deepEqual(said('a', 'https://example.org/work/a ./work/a an issue of taste ~/work/x'), []);
  });
});
