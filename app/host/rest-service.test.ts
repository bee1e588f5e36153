import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { exactly } from '../../core/model/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { Machine } from './machine.node.ts';
import { createRestService, createWorkMeter } from './rest-service.ts';

test('memory is given back a second after the last event, and what grew slowly once in five minutes at most', async () => {
  const clock = fakeClock();
  const board = createBoard();
  const calls: string[] = [];
  const note = (call: string) => () => void calls.push(call);
  const since = (): readonly string[] => calls.splice(0);
  let deliver = (): void => {};
  const outbox = {
    onDelivered: (listener: (rows: readonly never[]) => void) => {
      deliver = () => listener([]);
      return { [Symbol.dispose]: () => {} };
    },
  };
  const stop = new AbortController();
  const machine = { clock, tidy: note('tidy') } as unknown as Machine;
  const over = createRestService({ outbox, board, work: { rest: note('rest') } }, machine).run(stop.signal);
  const countSoMany = (count: number): void => {
    const counts = Array.from({ length: count }, (_, i) => ({
      persona: `p${i}`,
      unread: exactly(0),
      urgent: exactly(0),
    }));
    board.put({ is: 'counted', at: clock.now(), counts });
  };
  await clock.advance(1000);
  assert.deepEqual(since(), ['rest']);
  await clock.advance(1000);
  assert.deepEqual(since(), ['rest', 'tidy'], 'the start is over');
  countSoMany(100);
  await clock.advance(600_000);
  assert.deepEqual(since(), [], 'few polls leave little behind');
  countSoMany(1000);
  await clock.advance(1000);
  assert.deepEqual(since(), ['rest', 'tidy']);
  for (let second = 0; second < 40; second += 1) {
    countSoMany(1000);
    await clock.advance(1000);
  }
  assert.deepEqual(since(), [], 'who is polled every second is not cleared away every second');
  await clock.advance(250_000);
  for (let n = 0; n < 20; n += 1) {
    deliver();
    await clock.advance(900);
  }
  assert.deepEqual(since(), [], 'nothing is cleared away while events come');
  await clock.advance(2000);
  assert.deepEqual(since(), ['rest', 'rest', 'tidy']);
  deliver();
  await clock.advance(1000);
  assert.deepEqual(since(), ['rest']);
  await clock.advance(299_000);
  assert.deepEqual(since(), ['rest', 'tidy'], 'a single event leaves something behind too');
  await clock.advance(3_600_000);
  assert.deepEqual(since(), [], 'and then nothing wakes it');
  stop.abort();
  await over;
});

test('a burst of events may take memory, once until the next rest; every thousand pieces of work limit it', () => {
  const calls: string[] = [];
  const note = (call: string) => () => void calls.push(call);
  const work = createWorkMeter({
    inBurst: note('burst'),
    inStorm: note('storm'),
    atRest: note('rest'),
  } as unknown as Machine);
  const countEvents = (count: number): void => {
    for (let n = 0; n < count; n += 1) work.countBatch(1);
  };
  work.countWork(860);
  countEvents(19);
  for (let n = 0; n < 40; n += 1) work.countBatch(0);
  assert.deepEqual(calls, [], 'single messages need nothing, and neither does a state that is saved');
  work.rest();
  countEvents(19);
  assert.deepEqual(calls, ['rest'], 'a rest between them makes them no burst');
  countEvents(61);
  assert.deepEqual(calls, ['rest', 'burst']);
  countEvents(1);
  assert.deepEqual(calls, ['rest', 'burst', 'storm'], 'work of all kinds adds up to a storm');
  work.rest();
  countEvents(20);
  assert.deepEqual(calls, ['rest', 'burst', 'storm', 'rest', 'burst']);
});
