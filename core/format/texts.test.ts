import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatAgentState,
  formatClockTime,
  formatCount,
  formatDefaultChoice,
  formatList,
  formatRest,
  formatSilence,
  formatUtcTime,
} from './index.ts';

test('an instant is told as the clock on the wall shows it: today, this week, later', () => {
  const now = new Date(2026, 5, 20, 22, 15).getTime(); // a Saturday
  const at = (day: number, hour: number, minute = 0): string =>
    formatClockTime(new Date(2026, 5, day, hour, minute).getTime(), now);
  assert.deepEqual([at(20, 23, 5), at(21, 8), at(26, 8), at(27, 8)], ['23:05', 'Sun 08:00', 'Fri 08:00', '2026-06-27']);
});

test('what is silent says until when, if it has an end', () => {
  const now = new Date(2026, 5, 20, 12).getTime();
  assert.equal(formatSilence('muted', now + 125 * 60_000, now), 'muted until 14:05');
  assert.equal(formatSilence('muted', null, now), 'muted');
});

test('a number that may be higher has a plus, and a list names so many', () => {
  assert.deepEqual([formatCount(3, 'exact'), formatCount(200, 'atLeast')], ['3', '200+']);
  assert.equal(formatList(['ada', 'bo', 'cy', 'di', 'ed'], 2), 'ada, bo and 3 more');
  assert.equal(formatList(['ada', 'bo'], 2), 'ada, bo');
  assert.deepEqual([formatRest(0), formatRest(-1), formatRest(1)], ['', '', ' and 1 more']);
});

test('an option that is chosen by itself says when; of a question that waits for ever it says nothing', () => {
  const now = 1_000_000;
  assert.equal(formatDefaultChoice(now + 23 * 3_600_000, now), 'chosen by itself in 23 h');
  assert.equal(formatDefaultChoice(now, now), 'chosen by itself now');
  assert.equal(formatDefaultChoice(null, now), null);
});

test('a UTC time is cut to the second', () => {
  assert.equal(formatUtcTime('2026-06-20T10:00:00.123456+00:00'), '2026-06-20T10:00:00Z');
});

test('an agent that cannot work says why in words; of a reason that is not known its own', () => {
  const says = (why: string): string | null => formatAgentState('waiting', why, null);
  assert.equal(says('failed-rate-limit'), 'Cannot work: its rate limit is reached');
  assert.equal(says('failed-unknown'), 'Cannot work: its model could not be asked');
  assert.equal(says('failed-out-of-tea'), 'Cannot work: its model could not be asked (out of tea)');
  assert.equal(says('permission'), 'Waits at a permission prompt');
});
