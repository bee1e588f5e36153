import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from './fake-clock.ts';

test('time stands still until it is told to pass, then timers run in order of their due time', async () => {
  const clock = fakeClock(1000);
  const ran: string[] = [];
  clock.after(20, () => ran.push(`b at ${clock.monotonic()}`));
  clock.after(10, () => {
    ran.push(`a at ${clock.monotonic()}`);
    clock.after(5, () => ran.push(`a's own at ${clock.monotonic()}`));
  });
  const disposed = clock.after(15, () => ran.push('never'));
  disposed[Symbol.dispose]();
  assert.equal(clock.now(), 1000);
  await clock.advance(9);
  assert.deepEqual(ran, []);
  await clock.advance(100);
  assert.deepEqual(ran, ['a at 10', "a's own at 15", 'b at 20']);
  assert.equal(clock.now(), 1109);
  assert.equal(clock.waiting, 0);
});

test('a sleep ends with its time or its signal and leaves no timer', async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  let rounds = 0;
  const loop = (async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(10, stop.signal);
      rounds += 1;
    }
  })();
  await clock.advance(35);
  assert.equal(rounds, 3);
  stop.abort();
  await loop;
  assert.equal(clock.waiting, 0);
  await clock.sleep(10, stop.signal);
});

test('a stop lets both clocks go on and no timer run; a set clock moves only the wall', async () => {
  const clock = fakeClock(1000);
  const ran: number[] = [];
  clock.after(10, () => ran.push(clock.monotonic()));
  clock.stopFor(500);
  assert.deepEqual([clock.now(), clock.monotonic(), ran], [1500, 500, []]);
  await clock.advance(0);
  assert.deepEqual(ran, [500]);
  clock.setBy(-700);
  assert.deepEqual([clock.now(), clock.monotonic()], [800, 500]);
});
