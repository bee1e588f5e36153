import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type FakeClock, fakeClock } from '../../test/kit/fake-clock.ts';
import { MINUTE, SECOND } from '../../test/kit/rounds-rig.ts';
import { detectInterruptions, type Interruption, type InterruptionDetector } from './interruption.ts';

function watching(t: TestContext): { clock: FakeClock; wakefulness: InterruptionDetector; gaps: Interruption[] } {
  const clock = fakeClock();
  const wakefulness = detectInterruptions(clock);
  const gaps: Interruption[] = [];
  wakefulness.onInterruption((gap) => gaps.push(gap));
  const stop = new AbortController();
  const ended = wakefulness.service.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    assert.equal(clock.waiting, 0, 'the beat went on');
  });
  return { clock, wakefulness, gaps };
}

test('hours without a gap are hours without a word', async (t) => {
  const { clock, wakefulness, gaps } = watching(t);
  await clock.advance(180 * MINUTE);
  assert.deepEqual([gaps, wakefulness.isSettling()], [[], false]);
});

test('a stopped process: one gap, said with the first beat, and 30 s of grace', async (t) => {
  const { clock, wakefulness, gaps } = watching(t);
  await clock.advance(7 * SECOND);
  clock.stopFor(10 * MINUTE);
  await clock.advance(0);
  assert.deepEqual(gaps, [{ at: clock.now(), ms: 597 * SECOND, until: clock.now() + 30 * SECOND }]);
  await clock.advance(30 * SECOND - 1);
  assert.equal(wakefulness.isSettling(), true);
  await clock.advance(1);
  assert.equal(wakefulness.isSettling(), false);
  await clock.advance(10 * MINUTE);
  assert.equal(gaps.length, 1);
});

for (const [label, hours] of [
  ['a sleep through which the monotonic clock stood still, or a clock set forward', 8],
  ['a clock set back', -1],
] as const) {
  test(`${label}: one gap, with the next beat`, async (t) => {
    const { clock, gaps } = watching(t);
    await clock.advance(MINUTE);
    clock.setBy(hours * 60 * MINUTE);
    await clock.advance(5 * SECOND);
    assert.deepEqual(
      gaps.map(({ at, ms }) => [at, ms]),
      [[clock.now(), Math.abs(hours) * 60 * MINUTE]],
    );
    await clock.advance(10 * MINUTE);
    assert.equal(gaps.length, 1);
  });
}

test('who asks before the beat could run is answered by the clocks, and the gap is told first and once', async (t) => {
  const { clock, wakefulness, gaps } = watching(t);
  const seen: boolean[] = [];
  wakefulness.onInterruption(() => seen.push(wakefulness.isSettling())); // who is told may ask
  clock.stopFor(MINUTE);
  assert.equal(wakefulness.isSettling(), true);
  assert.equal(gaps.length, 1);
  await clock.advance(MINUTE);
  assert.equal(gaps.length, 1);
  assert.deepEqual(seen, [true]);
});

test('a gap in the grace time begins it anew; a clock that is set does not stretch it', async (t) => {
  const { clock, wakefulness, gaps } = watching(t);
  clock.stopFor(MINUTE);
  await clock.advance(20 * SECOND);
  clock.setBy(-60 * MINUTE);
  await clock.advance(5 * SECOND);
  assert.equal(gaps.length, 2);
  await clock.advance(29 * SECOND);
  assert.equal(wakefulness.isSettling(), true);
  await clock.advance(SECOND);
  assert.equal(wakefulness.isSettling(), false);
});

test('who stopped listening is not told', async (t) => {
  const { clock, wakefulness, gaps } = watching(t);
  const heard: Interruption[] = [];
  wakefulness.onInterruption((gap) => heard.push(gap))[Symbol.dispose]();
  clock.stopFor(MINUTE);
  await clock.advance(0);
  assert.deepEqual([gaps.length, heard.length], [1, 0]);
});
