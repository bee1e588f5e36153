import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCounts, type Count, exactly, UNKNOWN } from './health.ts';

const atLeast = (n: number): Count => ({ is: 'atLeast', n });

test('exact parts have an exact sum, also when there are none', () => {
  assert.deepEqual(addCounts([]), exactly(0));
  assert.deepEqual(addCounts([exactly(2), exactly(3)]), exactly(5));
});

test('one lower bound, or one unknown part, makes the sum a lower bound', () => {
  assert.deepEqual(addCounts([exactly(2), atLeast(3)]), atLeast(5));
  assert.deepEqual(addCounts([exactly(2), UNKNOWN]), atLeast(2));
});

test('only unknown parts are an unknown sum, never 0', () => {
  assert.deepEqual(addCounts([UNKNOWN, UNKNOWN]), UNKNOWN);
});
