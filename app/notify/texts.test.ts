import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { escapeArgument, escapeMarkup } from './channels/desktop.ts';
import { BODY_POINTS, isolate, toSingleLine } from './texts.ts';

test('controls, bidirectional overrides and zero-width characters go, words and scripts stay', () => {
  assert.equal(toSingleLine('a\u0000b\u0007c\u007fd\u009be', 50), 'abcde');
  assert.equal(toSingleLine('gnp.\u202eexe\u2066\u200f\u061c', 50), 'gnp.exe');
  assert.equal(toSingleLine('pass\u200bwo\u2060rd\ufeff\u00ad', 50), 'password');
  assert.equal(toSingleLine('\u{e0041}\u{e0042}tags', 50), 'tags');
  assert.equal(toSingleLine('Fish & <b>Chips</b> 👩‍👩‍👧 ٱلعربية', 50), 'Fish & <b>Chips</b> 👩‍👩‍👧 ٱلعربية');
});

test('terminal sequences go as a whole', () => {
  assert.equal(toSingleLine('\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007', 50), 'red link');
});

test('control strings and short escapes go too, also one that never ends', () => {
  assert.equal(toSingleLine('a\u001bPq#0;2\u001b\\b\u001b_payload\u0007c\u001b(B\u001bcd\u001b7e', 50), 'abcde');
  assert.equal(toSingleLine('a\u001b]0;title without an end', 50), 'a');
});

test('text from right to left reorders itself only; other text is left as it is', () => {
  assert.equal(isolate('ٱلعربية'), '\u2068ٱلعربية\u2069');
  assert.equal(isolate('mixed שלום'), '\u2068mixed שלום\u2069');
  assert.equal(isolate('Fish & 👩‍👩‍👧'), 'Fish & 👩‍👩‍👧');
});

test('line breaks of every kind become one blank', () => {
  assert.equal(toSingleLine('one \u200b two \u200d three', 50), 'one two three');
  assert.equal(toSingleLine('  one\r\ntwo\u2028three\u0085four\t\tfive  ', 50), 'one two three four five');
});

test('a joiner that joins nothing goes', () => {
  assert.equal(toSingleLine('\u200dend\u200d', 50), 'end');
  assert.equal(toSingleLine('\u200d\u200d\u200d', 50), '');
  assert.equal(toSingleLine('👩\u200d👩\u200d👧', 3), '👩…', 'nor does one before the cut');
});

test('a text is cut by code points, with an ellipsis', () => {
  assert.equal(toSingleLine('😀'.repeat(10), 10), '😀'.repeat(10));
  assert.equal(toSingleLine('😀'.repeat(11), 10), `${'😀'.repeat(9)}…`);
  assert.equal([...toSingleLine('x'.repeat(1_000_000), BODY_POINTS)].length, BODY_POINTS);
});

test('whatever comes in, one short well-formed line without unseen characters comes out', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const line = toSingleLine(text, 40);
      assert.ok([...line].length <= 40);
      assert.ok(line.isWellFormed());
      assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200b\ufeff]/u);
      assert.equal(toSingleLine(line, 40), line, 'cleaning twice is cleaning once');
    }),
  );
});

test('a lone surrogate is replaced, not passed on', () => {
  assert.equal(toSingleLine('a\ud800b', 10), 'a\ufffdb');
});

test('markup is escaped once', () => {
  assert.equal(escapeMarkup('Fish & <b>Chips</b>'), 'Fish &amp; &lt;b&gt;Chips&lt;/b&gt;');
});

test('an argument never begins like an option or a property list', () => {
  for (const text of ['-x', '--icon=x', '(a', '[a', '{a', '<a', '"a']) {
    assert.match(escapeArgument(text), /^\u200b/);
    assert.equal(escapeArgument(text).slice(1), text);
  }
  assert.equal(escapeArgument('plain - text'), 'plain - text');
});
