import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatPayload, PAYLOAD_CHARS } from './payload.ts';

const text = (words: string): object => ({ type: 'text', text: words, text_elements: [] });
const format = (value: unknown): string => formatPayload(JSON.stringify(value), 220);

describe('the text of a queued message', () => {
  test('codex 8: every known shape is read, and parts of text are joined by a line feed', () => {
    const parts = [text('one'), { type: 'localImage', path: '/a.png' }, text('two')];
    const shapes = [{ UserInput: { content: parts, client_id: 'x' } }, { items: parts }, { input: parts }, parts];
    for (const shape of shapes) assert.equal(format(shape), 'one\n[localImage]\ntwo');
  });

  test('codex 8: an unknown shape is shown by its top key, and is never an error', () => {
    const shapes: readonly (readonly [unknown, string])[] = [
      [{ Compact: { force: true } }, '[Compact]'],
      [{ UserInput: { other: 1 } }, '[UserInput]'],
      [{ UserInput: 'text' }, '[UserInput]'],
      [{}, '[empty]'],
      ['text', '[string]'],
      [null, '[null]'],
      [7, '[number]'],
      [[{ Skill: {} }, 7, { type: 'text', text: 7 }], '[Skill]\n[number]\n[text]'],
    ];
    for (const [shape, shown] of shapes) assert.equal(format(shape), shown);
    for (const broken of ['', 'x', undefined, 7, new Uint8Array(3)])
      assert.equal(formatPayload(broken, 220), '[unreadable]');
  });

  test('a payload that is cut off anywhere shows what is there', () => {
    const whole = JSON.stringify({ UserInput: { content: [text('a "quoted" \u00e9 \\ text'), text('second')] } });
    for (let end = 1; end < whole.length; end += 1) {
      const shown = formatPayload(whole.slice(0, end), 220);
      const isStart = 'a "quoted" \u00e9 \\ text\nsecond'.startsWith(shown.replace(/\n?\[[a-zA-Z]*\]$/, ''));
      assert.ok(isStart, `${whole.slice(0, end)}: ${shown}`);
    }
    const large = JSON.stringify([text('x'.repeat(2 << 20))]).slice(0, PAYLOAD_CHARS);
    assert.equal(formatPayload(large, 220), 'x'.repeat(220));
  });

  test('it is cleaned and cut by code points', () => {
    assert.equal(
      formatPayload(JSON.stringify([text('\0\ud83d\ude00\ud83d\ude00\ud83d\ude00')]), 2),
      '\ud83d\ude00\ud83d\ude00',
    );
    assert.equal(formatPayload('[{"type":"text","text":"\\ud800x"}]', 9), '\ufffdx');
  });
});
