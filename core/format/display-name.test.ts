import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayJson, displayLine, displayName } from './index.ts';

test('B6 given a name with a character that nobody sees, it is shown by its number', () => {
  for (const [raw, shown] of [
    ['ada\u200b', 'ada\\u200b'],
    ['a\u200dda', 'a\\u200dda'],
    ['\u202eada', '\\u202eada'],
    ['a\u00add\u034fa', 'a\\u00add\\u034fa'],
    ['ada\u3164', 'ada\\u3164'],
    ['ada\ufe0f', 'ada\\ufe0f'],
    ['ada\u{e0061}', 'ada\\u{e0061}'],
    ['a\u001b[31mb', 'a\\u001b[31mb'],
    ['a\nb', 'a\\u000ab'],
    ['a\u2028b\ud800', 'a\\u2028b\ufffd'],
  ] as const) {
    assert.equal(displayName(raw), shown);
  }
});

test('B6 given letters and emoji that joiners shape, they stay as they are', () => {
  for (const text of ['نمی‌خواهم', 'क्‍ष', '👩‍👩‍👧‍👦', '👩🏽‍🚀', '❤️‍🔥', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'Zoë 日本 🐝', '']) {
    assert.equal(displayName(text), text);
  }
});

test('B6 given a text of several lines, its preview is one line without numbers', () => {
  assert.equal(displayLine('first\r\n\tsecond  third\n'), 'first second third');
  assert.equal(displayLine('می‌شود\nok\u202e'), 'می‌شود ok\\u202e');
});

test('B6 given JSON, it keeps its meaning and nothing in it is hidden', () => {
  const value = { from: 'ada\u200b', text: '\u009b2J\u007f\u2028\u202e\u{e0061}👩‍👧 é' };
  const json = displayJson(JSON.stringify(value, null, 1));
  assert.deepEqual(JSON.parse(json), value);
  assert.doesNotMatch(json.replaceAll('\n', ''), /[\u007f-\u009f\u200b\u2028\u202e\u{e0061}]/u);
  assert.match(json, /👩‍👧/);
});

test('text keeps its letters and loses what a terminal would act on', () => {
  assert.equal(displayName('Zoë 🐝 日本'), 'Zoë 🐝 日本');
  assert.equal(displayName('a\u001b[31mb\nc\u009b2J'), 'a\\u001b[31mb\\u000ac\\u009b2J');
  assert.equal(displayName('a\u202eb\u2028c\ud800'), 'a\\u202eb\\u2028c\ufffd');
});

test('JSON keeps its meaning and loses what a terminal would act on', () => {
  const value = { a: '\u009b2J\u007f\u2028é🐝' };
  const json = displayJson(JSON.stringify(value));
  assert.match(json, /^[^\u007f-\u009f\u2028]*$/);
  assert.deepEqual(JSON.parse(json), value);
});
