import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeMsUntilAgeChange, formatAge, formatRowText, parseTimestamp } from './persona-row.ts';

test('whatever the text, a row is one bounded line of whole characters without anything unseen', () => {
  const unseen = /[\p{Cc}\u2028-\u202e\u200b\u200e\u200f\u2066\u2067]|[\ud800-\udfff](?![\udc00-\udfff])/v;
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (text, most) => {
      const row = formatRowText(text, most);
      const inside = row.replace(/^\u200e\u2068(.*)\u2069$/u, '$1');
      assert.ok([...inside].length <= most, row);
      assert.doesNotMatch(inside, /[\u2068\u2069]/);
      assert.ok(row.isWellFormed());
      assert.doesNotMatch(inside.replace(/[\u{10000}-\u{10ffff}]/gu, ''), unseen);
      assert.equal(row, row.trim());
    }),
  );
});

test('a hundred kilobytes are cut without being read, also when nothing of what is read can be shown', () => {
  assert.equal(formatRowText('x'.repeat(100_000), 10), `${'x'.repeat(9)}…`);
  assert.equal(formatRowText(`${'\u200b'.repeat(100_000)}x`, 10), '…');
  const began = performance.now();
  for (let i = 0; i < 1000; i += 1) formatRowText('\u001b]'.repeat(50_000), 60);
  assert.ok(performance.now() - began < 1000);
});

test('terminal sequences leave nothing behind, and marks do not pile up', () => {
  assert.equal(formatRowText('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007end', 40), 'red end');
  assert.equal(formatRowText(`a${'\u0301'.repeat(50)}b`, 40), `a${'\u0301'.repeat(3)}b`);
});

test('a span is told in minutes, hours, days, and stays the same exactly as long as it says', () => {
  assert.deepEqual([-5, 0, 59_999, 60_000, 3_599_999, 3_600_000, 172_799_999, 172_800_000].map(formatAge), [
    '',
    '',
    '',
    '1 min',
    '59 min',
    '1 h',
    '47 h',
    '2 d',
  ]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400_000_000 }), (ms) => {
      const lasts = computeMsUntilAgeChange(ms);
      assert.ok(lasts > 0);
      assert.equal(formatAge(ms + lasts - 1), formatAge(ms));
      assert.notEqual(formatAge(ms + lasts), formatAge(ms));
    }),
  );
});

test('the time of a message is read in the forms that sources give it, and of any other there is none', () => {
  const at = Date.UTC(2026, 5, 20, 9, 59, 59);
  assert.equal(parseTimestamp('2026-06-20T09:59:59'), at);
  assert.equal(parseTimestamp('2026-06-20 09:59:59Z'), at);
  assert.equal(parseTimestamp('2026-06-20T09:59:59.250000+00:00'), at + 250);
  assert.equal(parseTimestamp('2026-06-20T11:29:59+01:30'), at);
  assert.equal(parseTimestamp('2026-06-20T04:59:59-05:00'), at);
  for (const text of ['', 'now', '20 June', '2026-06-20', 'x2026-06-20T09:59:59'])
    assert.equal(parseTimestamp(text), null);
});
