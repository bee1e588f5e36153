import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { codeFiles, projectFiles, ROOT, sourceFile } from './source-file.ts';
import { EXCEPTIONS, findReplacedProse, findReplacedWords } from './vocabulary.ts';

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
function findForbidden(path: string, text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      FORBIDDEN.filter(([, pattern]) => pattern.test(line)).map(
        ([word]) => `${path}:${index + 1} names ${word}: ${line.trim()}`,
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
      texts.flatMap(([path, bytes]) => findForbidden(path, bytes.toString('utf8'))),
      [],
    );
  });

  test('each of them would be found', () => {
    const samples = [`cd ${'/wo'}rk/a`, `"resolved": "https://registry.${'npm'}js.org/a"`, `see ${'iss'}ue 12`];
    assert.deepEqual(
      samples.map((sample) => findForbidden('a', sample).length),
      [1, 1, 1],
    );
    assert.deepEqual(findForbidden('a', 'https://example.org/work/a ./work/a an issue of taste ~/work/x'), []);
  });
});

describe('words of the glossary', () => {
  test('no name holds a word that another one replaced', () => {
    assert.deepEqual(findReplacedWords(codeFiles()), []);
  });

  test('no page says one as a noun', () => {
    const pages = projectFiles().filter(
      (path) => path.endsWith('.md') && !/^(?:docs\/specs|test\/data)\//.test(path), // there others speak
    );
    assert.deepEqual(
      pages.flatMap((path) => findReplacedProse(path, readFileSync(join(ROOT, path), 'utf8'))),
      [],
    );
  });

  const bad: readonly (readonly [string, string])[] = [
    ['core/a.ts', 'const told = 1;'],
    ['core/a.ts', 'interface A { vital(): void }'],
    ['core/a.ts', 'interface A { readonly isTold: boolean }'],
    ['core/a.ts', 'function f(hole: number) {}'],
    ['core/a.ts', 'const { messages: letters } = a;'],
    ['core/a.ts', 'type Reach = 1;'],
    ['core/a.ts', 'interface Row {}'],
    ['core/a.ts', 'class NewEvent {}'],
    ['core/a.ts', 'interface PersonaWatch {}'],
    ['core/a.ts', 'const watch = 1;'],
    ['core/a.ts', 'function keepDecisions() {}'],
    ['core/a.ts', 'const isBoundary = 1;'],
    ['core/watch/a.ts', 'const mark = 1;'],
    ['app/notify/a.ts', 'interface DesktopDriver {}'],
    ['core/a.ts', 'class A { #settle = 1; }'],
    ['core/prism.ts', ''],
    ['core/last-look.node.ts', ''],
  ];
  for (const [path, text] of bad) {
    test(`${path} says one with: ${text}`, () => {
      assert.equal(findReplacedWords([sourceFile(path, text)]).length, 1);
    });
  }

  const good: readonly (readonly [string, string])[] = [
    ['core/a.ts', 'const retold = 1; const holds = 2; const keep = 3;'],
    ['core/a.ts', 'interface OutboxRow {} interface LatestMessage {}'],
    ['core/a.ts', 'const watch = () => 1; function watchFile() {} interface WatchPlan {}'],
    ['core/a.ts', 'const turnBoundaryId = 1; function markRead() {} interface GateMark {}'],
    ['core/watch/a.ts', 'function markRead() {}'],
    ['app/tray/a.ts', 'interface TrayDriver {}'],
  ];
  for (const [path, text] of good) {
    test(`${path} says none with: ${text}`, () => {
      assert.deepEqual(findReplacedWords([sourceFile(path, text)]), []);
    });
  }

  test('a page may say them as verbs', () => {
    const text =
      'Names that look alike are told apart. Mail is kept. A driver of the tray. A turn boundary. It marks each watched persona.';
    assert.deepEqual(findReplacedProse('a.md', text), []);
    for (const noun of [
      'the last look',
      'a hole',
      'this watch',
      'an offer',
      'at a boundary',
      'a driver of notifications',
    ])
      assert.equal(findReplacedProse('a.md', noun).length, 1, noun);
  });

  test('every exception has a reason', () => {
    assert.deepEqual(
      EXCEPTIONS.filter(({ reason }) => reason.length < 10),
      [],
    );
  });
});
