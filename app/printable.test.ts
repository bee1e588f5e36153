import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable, printableJson } from './printable.ts';

test('text keeps its letters and loses what a terminal would act on', () => {
  assert.equal(printable('Zoë 🐝 日本'), 'Zoë 🐝 日本');
  assert.equal(printable('a\u001b[31mb\nc\u009b2J'), 'a\\u001b[31mb\\u000ac\\u009b2J');
  assert.equal(printable('a\u202eb\u2028c\ud800'), 'a\\u202eb\\u2028c\ufffd');
});

test('JSON keeps its meaning and loses what a terminal would act on', () => {
  const value = { a: '\u009b2J\u007f\u2028é🐝' };
  const json = printableJson(JSON.stringify(value));
  assert.match(json, /^[^\u007f-\u009f\u2028]*$/);
  assert.deepEqual(JSON.parse(json), value);
});
