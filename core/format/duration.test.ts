import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeMsUntilDurationChanges, formatDuration } from './index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('E5 a duration is the whole number of its largest unit, in days from two days on', () => {
  const rows: readonly (readonly [number, string])[] = [
    [-5, '0 s'],
    [999, '0 s'],
    [59_999, '59 s'],
    [MINUTE, '1 min'],
    [90 * MINUTE, '1 h'],
    [HOUR - 1, '59 min'],
    [2 * HOUR, '2 h'],
    [47 * HOUR, '47 h'],
    [48 * HOUR, '2 d'],
    [400 * 24 * HOUR, '400 d'],
  ];
  for (const [ms, text] of rows) assert.equal(formatDuration(ms), text);
});

test('it is known when a duration reads differently', () => {
  for (const ms of [0, 1, 59_000, MINUTE, 2 * HOUR - 1, 2 * HOUR, 47.5 * HOUR, 50 * HOUR]) {
    const holds = computeMsUntilDurationChanges(ms);
    assert.equal(formatDuration(ms + holds - 1), formatDuration(ms));
    assert.notEqual(formatDuration(ms + holds), formatDuration(ms));
  }
});
