import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBoard, type Fact } from '../../core/board/index.ts';
import { AGENT_STATE_NOT_REPORTED, exactly, Fault } from '../../core/model/index.ts';
import { fakeClock } from '../../test/kit/fake-clock.ts';
import { createMail } from '../../test/kit/status-rig.ts';
import { followLoops } from './health-routes.ts';

const HIVE = 'http://127.0.0.1:7474';

function rig() {
  const clock = fakeClock();
  const board = createBoard();
  const join = (persona: string, staleAfterMs = 180_000): void =>
    board.put({
      is: 'joined',
      at: clock.now(),
      persona,
      source: 'kijito',
      address: persona,
      label: persona,
      stem: persona,
      eventsFile: null,
      lastEventId: null,
      staleAfterMs,
    });
  const poll = (persona: string): void => {
    const at = clock.now();
    const counts = { unread: exactly(0), urgent: exactly(0), agentState: AGENT_STATE_NOT_REPORTED, cursor: 1 };
    board.put({ is: 'polled', at, persona, health: { is: 'up', since: at }, ...counts });
  };
  const fail = (persona: string): void => {
    const fault = new Fault('refused', 'refused', { is: 'source', key: HIVE });
    const health = { is: 'down', since: 0, failures: 9, why: 'refused' } as const;
    board.put({ is: 'failed', at: clock.now(), persona, fault, health });
  };
  const source = (fault: Fault | null): void =>
    board.put({ is: 'source', at: clock.now(), source: 'kijito', address: HIVE, fault } satisfies Fact);
  return { clock, board, join, poll, fail, source, loops: followLoops(board, clock) };
}

test('it is starting until every source has said who is there and every inbox was tried', () => {
  const { loops, join, poll, fail, source } = rig();
  assert.deepEqual(loops.readiness(), { is: 'starting', waits: [] });
  join('ada');
  join('bo');
  poll('ada');
  assert.deepEqual(loops.readiness(), { is: 'starting', waits: ['bo'] });
  fail('bo');
  source(null);
  assert.deepEqual(loops.readiness(), { is: 'ready', personas: 2 });
});

test('a source without anybody is ready, and so is one that is down: that is an outage, and it is asked again', () => {
  for (const fault of [null, new Fault('refused', 'refused', { is: 'source', key: HIVE })]) {
    const { loops, source } = rig();
    source(fault);
    assert.deepEqual(loops.readiness(), { is: 'ready', personas: 0 });
  }
});

test('once ready, somebody new does not make it starting again', () => {
  const { loops, join, poll } = rig();
  join('ada');
  poll('ada');
  assert.equal(loops.readiness().is, 'ready');
  join('bo');
  assert.equal(loops.readiness().is, 'ready');
});

test('an inbox that nobody tries any more is named when its numbers are old; one that fails all the time is not', async () => {
  const { clock, loops, join, poll, fail } = rig();
  for (const persona of ['ada', 'bo', 'cy']) join(persona);
  for (const persona of ['ada', 'bo', 'cy']) poll(persona);
  for (let i = 0; i < 3; i += 1) {
    assert.equal(loops.readiness().is, 'ready');
    await clock.advance(60_000);
    poll('ada');
    fail('bo');
  }
  await clock.advance(1);
  assert.deepEqual(loops.readiness(), { is: 'stopped', personas: ['cy'] });
  poll('cy');
  assert.equal(loops.readiness().is, 'ready');
});

test('an inbox that was never tried since it came is named too, and one that left is forgotten', async () => {
  const { clock, board, loops, join } = rig();
  join('ada');
  await clock.advance(180_001);
  assert.deepEqual(loops.readiness(), { is: 'stopped', personas: ['ada'] });
  board.put({ is: 'left', at: clock.now(), persona: 'ada' });
  assert.deepEqual(loops.readiness(), { is: 'starting', waits: ['kijito'] });
});

test('quick polling does not count the waits of an inbox that is down as a loop that stopped', async () => {
  const { clock, loops, join, poll, fail } = rig();
  join('ada', 6000);
  poll('ada');
  fail('ada');
  await clock.advance(60_000); // the ceiling of the waits
  assert.equal(loops.readiness().is, 'ready');
  await clock.advance(30_001);
  assert.equal(loops.readiness().is, 'stopped');
});

test('who was on the board before is followed from then on', async () => {
  const { clock, board, join, poll } = rig();
  join('ada');
  poll('ada');
  const later = followLoops(board, clock);
  assert.deepEqual(later.readiness(), { is: 'ready', personas: 1 });
  await clock.advance(180_001);
  assert.deepEqual(later.readiness(), { is: 'stopped', personas: ['ada'] });
});

test('looks, failures and events are counted, until it is disposed', () => {
  const { board, loops, join, poll, fail } = rig();
  join('ada');
  poll('ada');
  poll('ada');
  fail('ada');
  const reported: Fact = {
    is: 'delivered',
    at: 1,
    persona: 'ada',
    events: [createMail('ada', 1), createMail('ada', 2)],
  };
  board.put(reported);
  board.put({ ...reported, is: 'recalled' });
  const counted = { polls: 2, failures: 1, events: new Map([['new', 2]]) };
  assert.deepEqual(loops.tally, counted);
  loops[Symbol.dispose]();
  poll('ada');
  assert.deepEqual(loops.tally, counted);
});
