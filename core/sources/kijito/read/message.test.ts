import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMessage } from './walk.ts';

const readContent = (content: unknown, chars: number | null = 220) =>
  toMessage({ id: 1, fields: { content } }, chars).content;

test('a row keeps its id, author, time and content', () => {
  const fields = { id: 7, from: 'river', content: 'hi', created: '2026-06-20T10:00:00', read: true, extra: 1 };
  assert.deepEqual(toMessage({ id: 7, fields }, 220), {
    id: 7,
    from: 'river',
    content: 'hi',
    created: '2026-06-20T10:00:00',
    read: true,
  });
});

test('content is cut to so many code points, never inside one', () => {
  assert.equal(readContent('abcdef', 3), 'abc');
  assert.equal(readContent('abc', 3), 'abc');
  assert.equal(readContent('a👩‍👩‍👧b', 2), 'a👩');
  assert.equal(readContent('👩👩👩', 2), '👩👩');
  assert.equal(readContent('abc', 0), '');
  assert.equal(readContent('x'.repeat(1_000_000), 220), 'x'.repeat(220));
});

test('with no content asked for, none is kept', () => assert.equal(readContent('abc', null), null));

test('content that is no text is its JSON, null and nothing are empty (D18)', () => {
  assert.equal(readContent({ a: 1, b: ['x'] }), '{"a":1,"b":["x"]}');
  assert.equal(readContent([1, 2]), '[1,2]');
  assert.equal(readContent(5), '5');
  assert.equal(readContent(true), 'true');
  assert.equal(readContent(null), '');
  assert.equal(readContent(undefined), '');
});

test('NUL is removed and a lone surrogate replaced, in every text (trap 8)', () => {
  const fields = { from: 'a\0b', created: '\0', content: 'x\0y\ud800z\udc00' };
  assert.deepEqual(toMessage({ id: 1, fields }, 220), {
    id: 1,
    from: 'ab',
    created: '',
    content: 'xy\ufffdz\ufffd',
    read: false,
  });
});

test('F7 a value that nobody can write as JSON is a placeholder, in every text', () => {
  const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  const row = toMessage({ id: 1, fields: { from: deep, created: { at: deep }, content: { a: deep } } }, 220);
  const placeholder = '(a value that is nested too deeply to be shown)';
  assert.deepEqual([row.from, row.created, row.content], [placeholder, placeholder, placeholder]);
});
