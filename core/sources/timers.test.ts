import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createTimers } from './source-tools.ts';

test('what is asked for twice is done once, at the sooner time, and can be asked for again', async () => {
  const clock = fakeClock();
  const timers = createTimers(clock);
  const done: string[] = [];
  const ask = (ms: number, label: string): void =>
    timers.schedule(ms, label, () => void done.push(`${label} ${clock.monotonic()}`));
  ask(10, 'a');
  ask(50, 'a');
  ask(20, 'b');
  ask(5, 'b');
  await clock.advance(100);
  assert.deepEqual(done, ['b 5', 'a 10']);
  ask(1, 'a');
  await clock.advance(1);
  assert.deepEqual(done, ['b 5', 'a 10', 'a 101']);
});

test('nothing is done once they are over', async () => {
  const clock = fakeClock();
  const timers = createTimers(clock);
  timers.schedule(1, 'a', () => assert.fail('it was over'));
  timers[Symbol.dispose]();
  assert.equal(clock.waiting, 0);
  await clock.advance(10);
});
