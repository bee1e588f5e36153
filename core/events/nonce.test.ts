import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeNonce, toMailEventId, toOtherEventId } from './index.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** The rule as it is written: long division, digit by digit. */
function dumbNonce(eventId: string): string {
  let left = BigInt(`0x${hash('sha256', eventId)}`);
  let text = '';
  for (let i = 0; i < 11; i += 1) {
    text += ALPHABET[Number(left % 62n)];
    left /= 62n;
  }
  return text;
}

test('trap 63: a nonce is the one of the contract, digit for digit, so no integrity alarm is false', () => {
  assert.equal(computeNonce('ada:new:2'), 'VUZRfrYFvqH');
  // Of a line that the later monitor wrote.
  assert.equal(computeNonce('codex:baseline_skipped:3bfb493ef12e906b-1'), '5WXouBVnUsJ');
});

test('for any id it is what long division of the hash gives, 11 digits also where they are zeros', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (id) => {
      assert.equal(computeNonce(id), dumbNonce(id));
    }),
    { numRuns: 5000 },
  );
  let zeros = 0;
  for (let id = 1; zeros < 20; id += 1) {
    const nonce = computeNonce(`ada:new:${id}`);
    if (!nonce.endsWith('a')) continue;
    zeros += 1;
    assert.equal(nonce, dumbNonce(`ada:new:${id}`));
    assert.match(nonce, /^[a-zA-Z0-9]{11}$/);
  }
});

test('trap 64: one message told twice is one wake: its nonce hangs on its id alone', () => {
  assert.equal(computeNonce(toMailEventId('ada', 7)), computeNonce(toMailEventId('ada', 7)));
  assert.notEqual(computeNonce(toMailEventId('ada', 7)), computeNonce(toMailEventId('bo', 7)));
  assert.notEqual(computeNonce(toMailEventId('ada', 7)), computeNonce(toMailEventId('ada', 8)));
});

test('trap 65: what counts from 1 again after a restart is not taken for what was told before', () => {
  const [before, after] = ['00ff00ff00ff00ff', '11ee11ee11ee11ee'].map((run) => toOtherEventId('ada', 'armed', run, 1));
  assert.notEqual(computeNonce(before ?? ''), computeNonce(after ?? ''));
});
