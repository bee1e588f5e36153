import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realClock } from './index.ts';

/** Longer than a timer of Node can wait; it would fire at once, with a warning. */
const MONTHS_MS = 9_999_999_999;

const soon = (ms: number): Promise<'soon'> => realClock.sleep(ms, new AbortController().signal).then(() => 'soon');

test('a sleep of months lasts, ends with its signal, and leaves nothing behind', async () => {
  const stop = new AbortController();
  const slept = realClock.sleep(MONTHS_MS, stop.signal).then(() => 'slept');
  assert.equal(await Promise.race([slept, soon(50)]), 'soon');
  stop.abort();
  assert.equal(await slept, 'slept');
});

test('what is to run after months does not run now, and never once it is disposed', async (t) => {
  const run = t.mock.fn();
  const timer = realClock.after(MONTHS_MS, run);
  await soon(50);
  timer[Symbol.dispose]();
  assert.equal(run.mock.callCount(), 0);
});

test('a span over the limit of Node is waited for in parts, and no longer than it is', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const run = t.mock.fn();
  realClock.after(MONTHS_MS, run);
  const longest = 2 ** 31 - 1;
  let passed = 0;
  for (; passed + longest < MONTHS_MS; passed += longest) t.mock.timers.tick(longest);
  t.mock.timers.tick(MONTHS_MS - 1 - passed);
  assert.equal(run.mock.callCount(), 0);
  t.mock.timers.tick(1);
  assert.equal(run.mock.callCount(), 1);
});

test('a sleep that is over before it begins does not wait', async () => {
  await realClock.sleep(MONTHS_MS, AbortSignal.abort());
});
