import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../events/index.ts';
import { Fault, type FaultCode } from '../model/index.ts';
import { tryEachOnce } from './exec.ts';
import { EMPTY_TAIL, type Sink } from './sink.ts';

const never = new AbortController().signal;
const events = [1, 2, 3, 4].map(
  (id): Event => ({
    ...{ event: 'new', source: 'kijito-inbox', ts: 't', id, from: 'bo', created: '', wake_class: 'mail' },
    event_id: `ada:new:${id}`,
  }),
);
const fault = (code: FaultCode): Fault => new Fault(code, code, { is: 'machine', key: 'exec' });

/** A sink that fails at these ids, and notes what it was given to try. */
function failingAt(ids: readonly number[], code: FaultCode = 'exec-failed') {
  const tried: number[] = [];
  const sink: Sink<null> = {
    savesState: false,
    open: async () => EMPTY_TAIL,
    take: async (given) => {
      for (const [count, event] of given.entries()) {
        const id = event.event === 'new' ? event.id : 0;
        tried.push(id);
        if (ids.includes(id)) return { is: 'stopped', count, fault: fault(code) };
      }
      return { is: 'all' };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  return { sink: tryEachOnce(sink), tried };
}

for (const [ids, indexes] of [
  [[1], [0]],
  [[4], [3]],
  [
    [1, 3],
    [0, 2],
  ],
  [
    [1, 2, 3, 4],
    [0, 1, 2, 3],
  ],
] as const) {
  test(`A5 each event is tried once, and only those that failed are lost: ${ids}`, async () => {
    const { sink, tried } = failingAt(ids);
    const ack = await sink.take(events, null, never);
    assert.deepEqual(tried, [1, 2, 3, 4]);
    assert.deepEqual([ack.is, [...(ack.lost?.indexes ?? [])]], ['all', indexes]);
  });
}

test('A5 nothing is lost where nothing failed', async () => {
  assert.deepEqual(await failingAt([]).sink.take(events, null, never), { is: 'all' });
});

test('A5 a reader that is gone ends the batch, and so does a stop of the watch: what follows is not lost', async () => {
  const gone = failingAt([2], 'reader-gone');
  assert.partialDeepStrictEqual(await gone.sink.take(events, null, never), { is: 'stopped', count: 1 });
  const stopped = failingAt([3]);
  assert.partialDeepStrictEqual(await stopped.sink.take(events, null, AbortSignal.abort()), {
    is: 'stopped',
    count: 2,
  });
  assert.deepEqual(
    [gone.tried, stopped.tried],
    [
      [1, 2],
      [1, 2, 3],
    ],
  );
});
