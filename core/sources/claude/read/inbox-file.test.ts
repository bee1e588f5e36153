import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTeamInbox } from './index.ts';

const toBytes = (entries: readonly unknown[]): Buffer => Buffer.from(JSON.stringify(entries, null, 2));
const toTexts = (bytes: Buffer, before: Parameters<typeof parseTeamInbox>[1] = null): readonly unknown[] =>
  parseTeamInbox(bytes, before).messages.map(({ text }) => text);

const createEntry = (n: number): object => ({
  ...{ from: 'bo', text: `text ${n} with "quotes", [lists] {braces} \\ and 😀`, read: false, more: { deep: [[n]] } },
  ...(n % 3 === 0 ? { msg_id: `00000000-${n}` } : {}),
});

test('a file that is parsed again, with the content before, gives what it gives by itself', () => {
  let entries: object[] = [];
  let before: ReturnType<typeof parseTeamInbox> | null = null;
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % most;
  };
  for (let round = 0; round < 300; round += 1) {
    const at = random(entries.length + 1);
    const kinds: readonly (() => object[])[] = [
      () => [...entries, createEntry(random(50))],
      () => [...entries, createEntry(random(50))],
      () => entries.toSpliced(at, 1),
      () => entries.map((entry, i) => (i === at ? { ...entry, read: true } : entry)),
      () => entries.toSpliced(at, 0, createEntry(random(50))),
      () => (random(20) === 0 ? [] : entries),
    ];
    entries = kinds[random(kinds.length)]?.() ?? entries;
    const bytes = round % 2 === 0 ? toBytes(entries) : Buffer.from(JSON.stringify(entries));
    const again = parseTeamInbox(bytes, before);
    assert.deepEqual(again.messages, parseTeamInbox(bytes).messages);
    assert.equal(again.messages.length, entries.length);
    assert.equal(new Set(again.messages.map(({ key }) => key)).size >= Math.min(1, entries.length), true);
    before = again;
  }
});

test('a file that is cut off anywhere is none, also after a whole one', () => {
  const whole = toBytes([createEntry(1), createEntry(2)]);
  const before = parseTeamInbox(whole);
  for (let size = 0; size < whole.length; size += 1)
    for (const last of [null, before]) assert.throws(() => parseTeamInbox(whole.subarray(0, size), last), SyntaxError);
  for (const text of ['{}', '[1,]', '[,1]', '[1] 2', '[}', '["a]', 'null', '[{"text":"a"}{"text":"b"}]'])
    assert.throws(() => parseTeamInbox(Buffer.from(text)), SyntaxError, text);
});

test('blanks, an empty list and what is no message', () => {
  assert.deepEqual(toTexts(Buffer.from(' [ ] \n')), []);
  const { messages, defects } = parseTeamInbox(
    Buffer.from('[1, "a", {"read": false}, [2], {"text": "{\\"type\\":\\"idle_notification\\"}"}]'),
  );
  assert.deepEqual(messages, []);
  assert.deepEqual(defects, [
    'entry 1 is no message',
    'entry 2 is no message',
    'entry 3 has no text',
    'entry 4 is no message',
  ]);
});
