import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, type DecisionRig, decisionRig, outcomeOf, says } from '../../../test/kit/decisions.ts';
import { type Decisions, type Waited, waitForDecision } from './index.ts';

const MINUTE = 60_000;

/** A wait with a clock that stands still until it is told to move. */
function waiting(rig: DecisionRig, decisions: Decisions, limitMs: number | null = null) {
  const stop = new AbortController();
  const marks: string[] = [];
  const gates = {
    waiting(persona: string, isWaiting: boolean) {
      marks.push(`${persona} ${isWaiting}`);
    },
  };
  let ended: Waited | null = null;
  const wait = waitForDecision(1, { decisions, gates, clock: rig.clock, limitMs, signal: stop.signal });
  const done = wait.then((waited) => {
    ended = waited;
    return waited;
  });
  return { stop, marks, done, ended: () => ended };
}

test('a wait sees an answer at the next look, and takes its mark away', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  const { marks, done, ended } = waiting(rig, decisions);
  await rig.clock.advance(1000);
  assert.deepEqual([ended(), marks], [null, ['ada true']]);
  rig.start().respond(1, says({ select: 'a' }));
  await rig.clock.advance(250);
  const waited = await done;
  assert.ok(waited.is === 'closed');
  assert.equal(outcomeOf(waited.decision), 'resolved a');
  assert.deepEqual(marks, ['ada true', 'ada false']);
  assert.equal(rig.clock.waiting, 0);
});

test('a wait of hours makes its mark anew, before it lapses', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  const { marks, stop, done } = waiting(rig, decisions);
  await rig.clock.advance(30 * MINUTE);
  assert.ok(marks.length >= 29, `${marks.length} marks in 30 minutes`);
  stop.abort();
  assert.equal((await done).is, 'stopped');
  assert.equal(marks.at(-1), 'ada false');
});

test('a wait ends at its limit, with the decision open', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  const { marks, done, ended } = waiting(rig, decisions, 1100);
  await rig.clock.advance(1099);
  assert.equal(ended(), null);
  await rig.clock.advance(1);
  assert.equal((await done).is, 'limit');
  assert.deepEqual(marks, ['ada true', 'ada false']);
});

test('a wait closes by itself what is over, with nobody else there', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks({ forMs: MINUTE, fallback: 'b' }));
  const { done } = waiting(rig, decisions);
  await rig.clock.advance(MINUTE + 250);
  const waited = await done;
  assert.ok(waited.is === 'closed');
  assert.equal(outcomeOf(waited.decision), 'resolved b');
  assert.ok(rig.inbox.has('decision:1'));
});

test('a wait for what is closed already, or not there, ends at once; the mark of the asking goes too', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  assert.equal((await waiting(rig, decisions).done).is, 'none');
  decisions.create(asks({ blocking: true }));
  assert.deepEqual([...rig.waiting], ['ada']);
  decisions.respond(1, says({ select: 'a' }));
  const { marks, done } = waiting(rig, decisions);
  assert.equal((await done).is, 'closed');
  assert.deepEqual(marks, ['ada false']);
});

test('a wait whose database fails takes its mark away and says so', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  let looks = 0;
  const failing: Decisions = {
    ...decisions,
    get(id) {
      looks += 1;
      if (looks > 2) throw new Error('the disk is gone');
      return decisions.get(id);
    },
  };
  const { marks, done } = waiting(rig, failing);
  const failed = assert.rejects(done, /the disk is gone/);
  await rig.clock.advance(1000);
  await failed;
  assert.deepEqual(marks, ['ada true', 'ada false']);
});
