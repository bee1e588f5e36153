import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRandom } from '../../core/ports/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createOnce } from './once.ts';

function codes() {
  const clock = fakeClock();
  return { clock, once: createOnce({ clock, random: realRandom }) };
}

test('a code is good once', () => {
  const { once } = codes();
  const code = once.make();
  assert.match(code, /^[0-9a-f]{64}$/);
  assert.deepEqual([once.redeem(code).is, once.redeem(code).is], ['good', 'again']);
});

test('a code is good for a minute', async () => {
  const { clock, once } = codes();
  const [early, late] = [once.make(), once.make()];
  await clock.advance(59_999);
  assert.equal(once.redeem(early).is, 'good');
  await clock.advance(1);
  assert.equal(once.redeem(late).is, 'bad');
  assert.equal(once.redeem(early).is, 'bad', 'and what is over is forgotten');
});

test('each link has a code of its own, and one that is none is no other', () => {
  const { once } = codes();
  const [one, two] = [once.make(), once.make()];
  assert.notEqual(one, two);
  for (const wrong of ['', one.slice(1), `${one}0`, one.toUpperCase().replace(/[0-9]/g, 'A')])
    assert.equal(once.redeem(wrong).is, 'bad');
  assert.deepEqual([once.redeem(two).is, once.redeem(one).is], ['good', 'good']);
});

test('after ten wrong codes every code has to wait, and a good one is still good afterwards', async () => {
  const { clock, once } = codes();
  for (let i = 0; i < 10; i += 1) assert.equal(once.redeem(`wrong ${i}`).is, 'bad');
  const code = once.make();
  assert.deepEqual(once.redeem(code), { is: 'limited', seconds: 6 });
  await clock.advance(5999);
  assert.equal(once.redeem(code).is, 'limited');
  await clock.advance(1);
  assert.equal(once.redeem('one more').is, 'bad', 'one guess came back');
  assert.equal(once.redeem('and one').is, 'limited', 'and only one');
  await clock.advance(6000);
  assert.equal(once.redeem(code).is, 'good');
});

test('wrong codes that come seldom are never limited, and rest does not save up more than ten', async () => {
  const { clock, once } = codes();
  for (let i = 0; i < 50; i += 1) {
    assert.equal(once.redeem('wrong').is, 'bad');
    await clock.advance(6000);
  }
  await clock.advance(3_600_000);
  for (let i = 0; i < 10; i += 1) assert.equal(once.redeem('wrong').is, 'bad');
  assert.equal(once.redeem('wrong').is, 'limited');
});

test('a hundred links are open at once, and the oldest gives way', () => {
  const { once } = codes();
  const made = Array.from({ length: 101 }, () => once.make());
  assert.equal(once.redeem(made[0] ?? '').is, 'bad');
  for (const code of made.slice(1)) assert.equal(once.redeem(code).is, 'good');
});
