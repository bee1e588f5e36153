import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { findMarks, formatMatch, parsePhrases } from './words.ts';

const match = (query: string): string => formatMatch(parsePhrases(query));
const marked = (text: string, query: string): readonly string[] =>
  findMarks(text, parsePhrases(query)).map(([from, to]) => text.slice(from, to));

describe('a search', () => {
  test('is words that a message must all have; the last may go on, in quotes they stand side by side', () => {
    assert.equal(match('Build red'), '"build" "red"*');
    assert.equal(match('"main is red" bo'), '"main is red" "bo"*');
    assert.equal(match('release v2.4'), '"release" "v2 4"*');
    assert.equal(match('say "so"'), '"say" "so"');
    assert.equal(match('Größe'), '"große"*');
  });

  test('whatever a person types is no error of FTS5, and is found or not', () => {
    using db = new DatabaseSync(':memory:');
    db.exec('CREATE VIRTUAL TABLE words USING fts5(content)');
    db.prepare('INSERT INTO words (content) VALUES (?)').run('near the column: not OR and');
    const find = db.prepare('SELECT count(*) AS n FROM words WHERE words MATCH ?');
    for (const query of [
      '"',
      '""',
      '" "',
      'a"b',
      "'",
      "'; DROP TABLE words; --",
      'NEAR(a b)',
      'near(',
      'a AND',
      'OR',
      'NOT NOT',
      'content:x',
      '-x',
      '^a',
      '*',
      'a*',
      '**"',
      '(',
      ')',
      '{a b}:c',
      '+',
      '\u0000',
      'a\u0000b',
      '\ud800',
      '\ud800"x',
      '%',
      '_',
      '\\',
      '?1',
      'x'.repeat(9000),
      'a '.repeat(900),
      '"'.repeat(500),
      '́',
      'مرحبا',
      '日本語',
      '🙂',
      '🙂 near',
    ]) {
      const phrases = formatMatch(parsePhrases(query));
      if (phrases !== '') assert.doesNotThrow(() => find.get(phrases), `${query}: ${phrases}`);
    }
    assert.deepEqual({ ...find.get(match('NOT or AND')) }, { n: 1 }, 'the words of its language are words');
    assert.deepEqual({ ...find.get(match('column: NEAR')) }, { n: 1 });
  });

  test('marks what it found as the index found it: without case and accents, whole words, the last from its beginning', () => {
    assert.deepEqual(marked('The build of Builder is red. REBUILD', 'build'), ['build', 'Builder']);
    assert.deepEqual(marked('build builder', 'build x'), ['build'], 'only the last word may go on');
    assert.deepEqual(marked('Crème brûlée, CREME', 'creme'), ['Crème', 'CREME']);
    assert.deepEqual(marked('main is red, is main red?', '"main is red"'), ['main is red']);
    assert.deepEqual(marked('v2.4 and v2, 41', 'v2.4'), ['v2.4', 'v2, 41']);
    assert.deepEqual(marked('nothing here', 'else'), []);
  });
});
