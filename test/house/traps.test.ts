import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { projectFiles, ROOT } from './source-file.ts';

/** A list of things that went wrong elsewhere, each with a number that is in the name of a test. */
interface List {
  readonly doc: string;
  /** Every number, as the rows of the list have it. */
  readonly numbers: readonly string[];
  /** Before a number in names of tests; a number that is a word of its own (`D2`) has none. */
  readonly kinds: readonly string[];
  /** Names begin with their numbers, `seed 4, 5: ...`, and each row says in which files its tests are. */
  readonly leads: boolean;
}

const upTo = (kind: string, n: number): readonly string[] => Array.from({ length: n }, (_, i) => `${kind}${i + 1}`);
const parts = (number: string, suffixes: string): readonly string[] =>
  [...suffixes].map((suffix) => `${number}${suffix}`);

const LISTS: readonly List[] = [
  {
    doc: 'docs/specs/kijito-traps.md',
    numbers: [...upTo('trap ', 70), ...upTo('D', 25)],
    kinds: ['trap', 'D'],
    leads: false,
  },
  {
    doc: 'docs/specs/inbox-traps.md',
    numbers: [
      ...['8.1', ...parts('8.2', 'ab'), ...parts('8.3', 'ab'), ...parts('8.4', 'ab'), '8.5', '8.6', '8.7'],
      ...[...parts('8.8', 'ab'), ...parts('8.9', 'ab'), ...parts('8.10', 'abc'), ...parts('8.11', 'ab')],
      ...[...parts('8.12', 'ab'), ...parts('8.13', 'abcde')],
    ]
      .map((number) => `inbox-gates ${number}`)
      .concat(upTo('seed ', 26), upTo('bad input ', 8)),
    kinds: ['inbox-gates', 'seed', 'bad input'],
    leads: true,
  },
];

const NUMBER = '\\d+(?:\\.\\d+)?[a-e]?';
const MANY = `${NUMBER}(?:(?:, | and | to )${NUMBER})*`;

/** `trap 14`, `traps 28, 29, 47`, `traps 4 to 6` and `D2` in what names of tests say: names, and rows of tables of names. */
function numbersIn(text: string, { kinds, leads }: Pick<List, 'kinds' | 'leads'>): readonly string[] {
  const names = [...text.matchAll(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g)].map(([words]) => words);
  const lead = new RegExp(`^['\`](?:(?:, )?(?:${kinds.join('|')})s? ${MANY})+: `);
  const allNames = (leads ? names.flatMap((words) => lead.exec(words)?.[0] ?? []) : names).join('\n');
  return kinds.flatMap((kind) => {
    if (kind.length === 1)
      return [...allNames.matchAll(new RegExp(`\\b${kind}\\d+\\b`, 'g'))].map(([number]) => number);
    return [...allNames.matchAll(new RegExp(`\\b${kind}s? (${MANY})`, 'g'))].flatMap(([, list = '']) =>
      spelledOut(list).map((number) => `${kind} ${number}`),
    );
  });
}

function spelledOut(list: string): readonly string[] {
  const [, from, to] = /^(\d+) to (\d+)$/.exec(list) ?? [];
  if (from === undefined) return list.split(/, | and /);
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${Number(from) + i}`);
}

interface TrapRow {
  readonly number: string;
  readonly files: readonly string[];
}

function listRows({ doc, kinds }: List): readonly TrapRow[] {
  const number = kinds.map((kind) => (kind.length === 1 ? `${kind}\\d+` : `${kind} ${NUMBER}`)).join('|');
  const row = new RegExp(`^\\| (${number}) \\|.*$`, 'gm');
  return [...readFileSync(join(ROOT, doc), 'utf8').matchAll(row)].map(([line, found = '']) => ({
    number: found,
    files: [...line.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = '']) => file),
  }));
}

const tests = projectFiles().filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/house/'));
const texts = new Map(tests.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

for (const list of LISTS) {
  describe(list.doc, () => {
    const rows = listRows(list);
    const inTests = new Map([...texts].map(([path, text]) => [path, new Set(numbersIn(text, list))]));

    test('has every number once, in order', () => {
      assert.deepEqual(
        rows.map(({ number }) => number),
        list.numbers,
      );
    });

    test('has a test for each that names its number', () => {
      const tested = new Set([...inTests.values()].flatMap((numbers) => [...numbers]));
      assert.deepEqual(
        list.numbers.filter((number) => !tested.has(number)),
        [],
      );
    });

    if (!list.leads) return;

    test('says of each where a test of it is', () => {
      const wrong = rows.filter(
        ({ number, files }) => files.length === 0 || files.some((file) => inTests.get(file)?.has(number) !== true),
      );
      assert.deepEqual(wrong, []);
    });

    test('has the numbers of all tests', () => {
      const tested = new Set([...inTests.values()].flatMap((numbers) => [...numbers]));
      assert.deepEqual(
        [...tested].filter((number) => !list.numbers.includes(number)),
        [],
      );
    });
  });
}

test('the numbers are found in lists and in rows', () => {
  const text = "test('trap 1: a'); describe(`x (traps 2, 3 and 4)`); ['D5 b'], 'traps 6 to 8'; // trap 9";
  const found = ['trap 1', 'trap 2', 'trap 3', 'trap 4', 'trap 6', 'trap 7', 'trap 8', 'D5'];
  assert.deepEqual(numbersIn(text, { kinds: ['trap', 'D'], leads: false }), found);
});

test('where names begin with them, a number elsewhere is none', () => {
  const kinds = ['inbox-gates', 'seed', 'bad input'];
  const text =
    "test('inbox-gates 8.3a, seed 12: a'); `bad input 3 and 4: b`; 'seeds 1, 14: c'; 'x seed 5: d', 'seed 6 e'";
  const found = ['inbox-gates 8.3a', 'seed 12', 'seed 1', 'seed 14', 'bad input 3', 'bad input 4'];
  assert.deepEqual(numbersIn(text, { kinds, leads: true }), found);
});
