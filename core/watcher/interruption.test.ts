import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeInterruptionMs } from './interruption.ts';

const DUE = 5000;
const TOLERATED = 15_000;

/** How far the wall clock and the monotonic clock went on between two beats, in seconds, and the gap in that. */
const ROWS: readonly (readonly [what: string, wall: number, monotonic: number, gap: number | null])[] = [
  ['a beat in time', 5, 5, null],
  ['a look before the beat', 0, 0, null],
  ['a busy machine: a beat 10 s late', 15, 15, null],
  ['15 s late is not above 15 s', 20, 20, null],
  ['stopped, both clocks went on', 25, 25, 20],
  ['a night asleep, both clocks went on', 28_800, 28_800, 28_795],
  ['a night asleep, the monotonic clock stood still', 28_800, 5, 28_795],
  ['asleep just before a beat, seen by a look a second later', 3601, 1, 3596],
  ['the wall clock set forward by a minute', 65, 5, 60],
  ['the wall clock set forward by 10 s', 15, 5, null],
  ['the wall clock set back by a minute', -55, 5, 60],
  ['the wall clock set back by 10 s', -5, 5, null],
  ['set back by 15 s is not above 15 s', -10, 5, null],
  ['asleep, and set back meanwhile: the monotonic clock tells', 0, 600, 595],
];

for (const [label, wall, monotonic, gap] of ROWS) {
  test(`${label}: ${gap === null ? 'no gap' : `a gap of ${gap} s`}`, () => {
    const before = { wall: 1_750_000_000_000, monotonic: 77_000 };
    const after = { wall: before.wall + wall * 1000, monotonic: before.monotonic + monotonic * 1000 };
    assert.equal(computeInterruptionMs(before, after, DUE, TOLERATED), gap === null ? null : gap * 1000);
  });
}
