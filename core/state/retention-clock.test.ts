import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDatabase } from './index.ts';
import { advanceTrust, CONFIRM_MS, openDeletionLimit, openRetentionClock, TOLERATED_MS } from './retention-clock.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 1);
const HOUR_MS = 3_600_000;
const known = { trusted: START, lastWall: START, confirmedMs: 0 };

describe('the time that may delete', () => {
  test('A2 given a weekend, a clock that was set back, or one that goes on, the wall clock is believed', () => {
    for (const wall of [START + TOLERATED_MS, START - 400 * DAY_MS, START + 1])
      assert.deepEqual(advanceTrust(known, wall, 0), { trusted: wall, lastWall: wall, confirmedMs: 0 });
  });

  test('A2 given one start with a clock 40 days ahead, time goes on by what was measured, and is right again after it', () => {
    let trust = advanceTrust(known, START + 40 * DAY_MS, 0);
    assert.equal(trust.trusted, START);
    trust = advanceTrust(trust, START + 40 * DAY_MS + HOUR_MS, HOUR_MS);
    assert.equal(trust.trusted, START + HOUR_MS);
    trust = advanceTrust(trust, START + 2 * HOUR_MS, 0);
    assert.equal(trust.trusted, START + 2 * HOUR_MS);
  });

  test('A2 given many short starts with a wrong clock, nothing of its lead is ever believed', () => {
    let trust = known;
    for (let i = 0; i < 50; i += 1) {
      trust = advanceTrust(trust, START + 40 * DAY_MS + i * 1000, 0);
      trust = advanceTrust(trust, START + 40 * DAY_MS + i * 1000 + 500, 500);
    }
    assert.equal(trust.trusted, START + 50 * 500);
  });

  test('A2 given a machine that was off for 40 days, its clock is believed after a day of running, over restarts', () => {
    let wall = START + 40 * DAY_MS;
    let trust = advanceTrust(known, wall, 0);
    for (let ran = 0; ran < CONFIRM_MS; ran += 8 * HOUR_MS) {
      assert.ok(trust.trusted < START + 2 * DAY_MS, `after ${ran} ms`);
      wall += 8 * HOUR_MS;
      trust = advanceTrust(trust, wall, 8 * HOUR_MS);
      if (ran + 8 * HOUR_MS >= CONFIRM_MS) break;
      wall += 16 * HOUR_MS; // off over night
      trust = advanceTrust(trust, wall, 0);
    }
    assert.equal(trust.trusted, wall);
  });

  test('A2 given a clock that jumps while the program runs, it is not believed either', () => {
    using db = openDatabase(':memory:');
    let now = START;
    let monotonic = 0;
    const clock = { now: () => now, monotonic: () => monotonic };
    const retention = openRetentionClock(db, clock);
    now += 40 * DAY_MS;
    monotonic += HOUR_MS;
    assert.equal(retention.now(), START + HOUR_MS);
    assert.equal(retention.doubtedMs(), 40 * DAY_MS - HOUR_MS);
    retention.beat();
    // Another process that has no such clock deletes no later than what this one explains.
    assert.equal(openDeletionLimit(db)(now), START + HOUR_MS + TOLERATED_MS);
    assert.equal(openDeletionLimit(db)(START), START);
    assert.equal(openRetentionClock(db, clock).now(), START + HOUR_MS);
  });
});
