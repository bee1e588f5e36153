import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase, runLaterTransaction, runTransaction } from '../../../core/state/index.ts';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { createBudget, type TimeBudget } from './call.ts';
import { wrapWithDeadline } from './run.ts';

test('each wait is given what is left, and never more than its part', async () => {
  const clock = fakeClock();
  const whole = createBudget(clock, 850);
  assert.equal(whole.left(), 850);
  const stdin = whole.part(400);
  assert.equal(stdin.left(), 400);
  await clock.advance(390);
  assert.deepEqual([stdin.left(), whole.left()], [10, 460]);
  await clock.advance(260);
  assert.deepEqual([stdin.left(), whole.left(), whole.part(400).left(), whole.part(50).left()], [0, 200, 200, 50]);
});

test('nothing is left of a part when nothing is left of the whole; less than a millisecond is nothing', async () => {
  const clock = fakeClock();
  const whole = createBudget(clock, 100.9);
  const part = whole.part(80);
  await clock.advance(100);
  assert.deepEqual([whole.left(), part.left(), whole.part(10).left()], [0, 0, 0]);
  await clock.advance(100);
  assert.deepEqual([whole.left(), whole.part(10).left(), whole.part(-5).left()], [0, 0, 0]);
});

test('waits one after the other, each to its end, end with the whole', async () => {
  const clock = fakeClock();
  const whole = createBudget(clock, 850);
  const waitOut = async (budget: TimeBudget): Promise<void> => {
    for (let ms = budget.left(); ms > 0; ms = budget.left()) await clock.advance(ms);
  };
  for (const most of [400, 250, 250, 250, 50]) await waitOut(whole.part(most));
  assert.equal(clock.monotonic(), 850);
});

test('a transaction waits for another process as long as there is something left', async () => {
  const clock = fakeClock();
  using db = wrapWithDeadline(openDatabase(':memory:'), createBudget(clock, 850));
  const waits = (): unknown => db.prepare<{ timeout: number }>('PRAGMA busy_timeout').get()?.timeout;
  await clock.advance(727);
  runTransaction(db, () => assert.deepEqual([waits(), db.isTransaction], [123, true]));
  await clock.advance(500);
  runLaterTransaction(db, () => assert.equal(waits(), 0));
  assert.equal(db.isTransaction, false);
});
