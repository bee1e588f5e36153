import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { exactly } from '../../core/model/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { Machine } from './machine.node.ts';
import { createRestService, createWorkMeter } from './rest-service.ts';

test('memory is given back a second after the start and after many polls, once in ten minutes at most', async () => {
  const clock = fakeClock();
  const board = createBoard();
  let rests = 0;
  const rest = (): void => {
    rests += 1;
  };
  const outbox = { onDelivered: () => ({ [Symbol.dispose]: () => {} }) };
  const stop = new AbortController();
  const over = createRestService({ outbox, board, work: { rest } }, { clock } as unknown as Machine).run(stop.signal);
  const countSoMany = (count: number): void => {
    const counts = Array.from({ length: count }, (_, i) => ({
      persona: `p${i}`,
      unread: exactly(0),
      urgent: exactly(0),
    }));
    board.put({ is: 'counted', at: clock.now(), counts });
  };
  await clock.advance(1000);
  assert.equal(rests, 1);
  countSoMany(100);
  await clock.advance(60_000);
  assert.equal(rests, 1, 'few leave little behind');
  countSoMany(1000);
  await clock.advance(999);
  assert.equal(rests, 1);
  await clock.advance(1);
  assert.equal(rests, 2);
  for (let second = 0; second < 40; second += 1) {
    countSoMany(1000);
    await clock.advance(1000);
  }
  assert.equal(rests, 2, 'who is polled every second is not cleared away every second');
  await clock.advance(560_000);
  countSoMany(1000);
  await clock.advance(1000);
  assert.equal(rests, 3);
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
    for (let n = 0; n < count; n += 1) work.countEvent();
  };
  work.countWork(900);
  countEvents(19);
  assert.deepEqual(calls, [], 'single messages need nothing');
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
