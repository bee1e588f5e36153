import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askBelow, readAhead, type WalkRange } from './walk.ts';

const GROUND: WalkRange = { after: 0, done: [] };
const body = (text: string): Uint8Array => Buffer.from(text);
const continuing = (before: number | string): Uint8Array =>
  body(`{"result":[{"id":1,"content":"x"}],"truncated":true,"next_before_id": ${before}, "unread_not_shown":3}`);

/** Pages by where they are asked for, and what was asked, in order. */
function pages(bodies: Readonly<Record<number, Uint8Array | Error>>, most = 9, ground: WalkRange = GROUND) {
  const asked: number[] = [];
  const turns: number[] = [];
  const ask = async (before: number): Promise<Uint8Array> => {
    asked.push(before);
    const page = bodies[before] ?? new Error(`no page before ${before}`);
    if (page instanceof Error) throw page;
    return page;
  };
  const read = readAhead(ask, ground, most, async () => void turns.push(asked.length));
  return { read, asked, turns };
}

test('the next page is on its way before the last is given to be read, and is asked for once', async () => {
  const { read, asked, turns } = pages({ 50: continuing(30), 30: continuing(10), 10: body('{"next_before_id":null}') });
  await read(50);
  assert.deepEqual([asked, turns], [[50, 30], [2]]);
  await read(30);
  await read(10);
  assert.deepEqual(asked, [50, 30, 10]);
});

test('nothing is asked for beyond the cursor, what is done, or the budget', async () => {
  const done = pages({ 50: continuing(30) }, 9, { after: 5, done: [{ from: 20, to: 29 }] });
  await done.read(50);
  assert.deepEqual(done.asked, [50, 20]);
  const all = pages({ 50: continuing(30) }, 9, { after: 29, done: [] });
  await all.read(50);
  assert.deepEqual(all.asked, [50]);
  const budget = pages({ 50: continuing(30), 30: continuing(10) }, 2);
  await budget.read(50);
  await budget.read(30);
  assert.deepEqual(budget.asked, [50, 30]);
});

test('a hint is not believed: who reads the page says where to ask, and a wrong one that fails is nobody’s failure', async () => {
  const { read, asked } = pages({ 50: continuing(30), 40: continuing(10) });
  await read(50);
  assert.equal(await read(40), await read(40));
  assert.deepEqual(asked.slice(0, 3), [50, 30, 40]);
});

test('what is no continuation is no hint: none older, above where was asked, text of a message, a number too large', async () => {
  for (const text of [
    '{"result":[],"next_before_id":null}',
    '{"result":[],"next_before_id":50}',
    '{"result":[],"next_before_id":"30"}',
    '{"next_before_id":1e1}',
    '{"next_before_id":9007199254740993}',
    JSON.stringify({ next_before_id: null, result: [{ content: '"next_before_id":30}' }] }),
    '',
  ]) {
    const { read, asked } = pages({ 50: body(text) });
    await read(50);
    assert.deepEqual(asked, [50], text);
  }
});

test('a page that was asked for ahead and failed fails when it is wanted', async () => {
  const { read } = pages({ 50: continuing(30), 30: new Error('broken') });
  await read(50);
  await assert.rejects(read(30), /broken/);
});

test('a walk asks below what is done, and says that it skipped it', () => {
  const ground = {
    after: 5,
    done: [
      { from: 6, to: 9 },
      { from: 20, to: 29 },
    ],
  };
  assert.deepEqual(askBelow(31, ground), { before: 31, skips: false });
  assert.deepEqual(askBelow(30, ground), { before: 20, skips: true });
  assert.equal(askBelow(10, ground), null);
  assert.equal(askBelow(6, { after: 5, done: [] }), null);
});
