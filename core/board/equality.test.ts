import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { exactly, Fault } from '../model/index.ts';
import { createBoard, type Fact, isSameValue, type ReportedValues } from './index.ts';

test('property: plain data is the same exactly if nothing in it differs, whatever its keys are', () => {
  const plain = fc.jsonValue({ depthSize: 'medium' });
  fc.assert(
    fc.property(plain, plain, (a, b) => {
      assert.equal(isSameValue(a, b), isDeepStrictEqual(a, b));
      assert.ok(isSameValue(a, structuredClone(a)));
    }),
  );
});

test('a key that is absent is not a key without a value, and a list is no record', () => {
  assert.equal(isSameValue({ a: undefined }, { b: 1 }), false);
  assert.equal(isSameValue({ a: 1 }, { a: 1, b: 2 }), false);
  assert.equal(isSameValue([], {}), false);
  assert.equal(isSameValue({}, []), false);
  assert.equal(isSameValue({}, null), false);
});

test('faults are the same when a person reads the same, and maps when they hold the same', () => {
  const fault = (message: string): Fault => new Fault('refused', message, { is: 'source', key: 'x' });
  assert.ok(isSameValue(new Map([['a', fault('no')]]), new Map([['a', fault('no')]])));
  assert.equal(isSameValue(new Map([['a', fault('no')]]), new Map([['a', fault('yes')]])), false);
});

test('every value of a persona that differs is a change of the board, also one that the board does not know', () => {
  const board = createBoard();
  const put = (fact: Record<string, unknown>): number => {
    board.put({ at: 1, persona: 'ada', ...fact } as unknown as Fact);
    return board.snapshot().rev;
  };
  const joined = { is: 'joined', source: 's', address: 'ada', label: 'ada', stem: 'ada', eventsFile: null };
  put({ ...joined, lastEventId: null, staleAfterMs: 1 });
  const values: Partial<ReportedValues> & Record<string, unknown> = {
    pending: [0, 0, 1, 0, 0],
    gates: [{ id: 'g', hook: 'Stop', mode: 'soft', description: 'd' }],
    never: { heard: ['of'] },
  };
  let rev = put({ is: 'reported', values });
  assert.equal(put({ is: 'reported', values: structuredClone(values) }), rev);
  const others = { pending: [0, 0, 2, 0, 0], gates: [], never: { heard: ['off'] } };
  for (const [key, value] of Object.entries(others)) {
    assert.equal(put({ is: 'reported', values: { [key]: value } }), rev + 1, key);
    rev += 1;
  }
  const poll = { is: 'polled', health: { is: 'up', since: 1 }, agentState: { is: 'live' }, cursor: 1 };
  const first = { ...poll, unread: exactly(1), urgent: exactly(0) };
  rev = put(first);
  assert.equal(put(structuredClone(first)), rev);
  const changes = {
    unread: exactly(2),
    urgent: exactly(1),
    cursor: 2,
    agentState: { is: 'gone', why: 'x' },
    health: { is: 'failing', failures: 1, why: 'refused' },
  };
  for (const [key, value] of Object.entries(changes)) {
    assert.equal(put({ ...first, [key]: value }), rev + 1, key);
    rev = put(first);
  }
});
