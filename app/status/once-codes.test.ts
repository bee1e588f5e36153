import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRandom } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createOnceCodes } from './token.ts';

function codes() {
  const clock = fakeClock();
  return { clock, once: createOnceCodes({ clock, random: realRandom }) };
}

test('a code is good once', () => {
  const { once } = codes();
  const code = once.make();
  assert.match(code, /^[0-9a-f]{64}$/);
  assert.deepEqual([once.redeem(code), once.redeem(code)], ['good', 'again']);
});

test('a code is good for a minute', async () => {
  const { clock, once } = codes();
  const [early, late] = [once.make(), once.make()];
  await clock.advance(59_999);
  assert.equal(once.redeem(early), 'good');
  await clock.advance(1);
  assert.equal(once.redeem(late), 'bad');
  assert.equal(once.redeem(early), 'bad', 'and what is over is forgotten');
});

test('a code may be good for longer, also behind one that is over', async () => {
  const { clock, once } = codes();
  const [long, short] = [once.make(600_000), once.make()];
  await clock.advance(60_000);
  assert.equal(once.redeem(short), 'bad');
  await clock.advance(539_999);
  assert.equal(once.isGood(long), true);
  await clock.advance(1);
  assert.equal(once.redeem(long), 'bad');
});

test('each link has a code of its own, and one that is none is no other', () => {
  const { once } = codes();
  const [first, second] = [once.make(), once.make()];
  assert.notEqual(first, second);
  for (const wrong of ['', first.slice(1), `${first}0`, first.toUpperCase().replace(/[0-9]/g, 'A')])
    assert.equal(once.redeem(wrong), 'bad');
  assert.deepEqual([once.redeem(second), once.redeem(first)], ['good', 'good']);
});

test('B3 given any number of wrong codes, a good one works at once, and wrong ones stay wrong', () => {
  const { once } = codes();
  const code = once.make();
  for (let i = 0; i < 10_000; i += 1) assert.equal(once.redeem(`wrong ${i}`), 'bad');
  assert.equal(once.redeem(code), 'good');
  assert.equal(code.length * 4, 256, 'bits of a code, in hexadecimal digits');
});

test('a hundred links are open at once, and the oldest gives way', () => {
  const { once } = codes();
  const made = Array.from({ length: 101 }, () => once.make());
  assert.equal(once.redeem(made[0] ?? ''), 'bad');
  for (const code of made.slice(1)) assert.equal(once.redeem(code), 'good');
});
