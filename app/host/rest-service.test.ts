import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard } from '../../core/board/index.ts';
import { exactly } from '../../core/model/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import type { Machine } from './machine.node.ts';
import { createRestService, createStormLimit } from './rest-service.ts';

test('memory is given back a second after the start and after many polls, once in ten minutes at most', async () => {
  const clock = fakeClock();
  const board = createBoard();
  let rests = 0;
  const atRest = (): void => {
    rests += 1;
  };
  const outbox = { onDelivered: () => ({ [Symbol.dispose]: () => {} }) };
  const stop = new AbortController();
  const over = createRestService({ outbox, board }, { clock, atRest } as unknown as Machine).run(stop.signal);
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

test('memory is limited with every thousand pieces of work', () => {
  let limits = 0;
  const inStorm = (): void => {
    limits += 1;
  };
  const countWork = createStormLimit({ inStorm } as unknown as Machine);
  countWork(998);
  countWork(1);
  assert.equal(limits, 0);
  countWork(1);
  assert.equal(limits, 1);
  countWork(1);
  assert.equal(limits, 1);
});
