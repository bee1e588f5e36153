import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asks, type DecisionRig, decisionRig, formatOutcome, says } from '../../../test/kit/decisions.ts';
import { RENEW_WAIT_MS } from './decisions.ts';
import { type Decisions, type DecisionWaitResult, waitForDecision } from './index.ts';

const MINUTE = 60_000;

/** A wait with a clock that stands still until it is told to move. */
function waiting(rig: DecisionRig, limitMs: number | null = null, get: Decisions['get'] | null = null) {
  const stop = new AbortController();
  const marks: string[] = [];
  const gates = {
    open() {},
    close() {},
    waiting(persona: string, isWaiting: boolean) {
      marks.push(`${persona} ${isWaiting}`);
    },
  };
  const own = rig.start({ gates });
  const decisions = get === null ? own : { ...own, get };
  let ended: DecisionWaitResult | null = null;
  const wait = waitForDecision(1, { decisions, clock: rig.clock, limitMs, signal: stop.signal });
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
  const { marks, done, ended } = waiting(rig);
  await rig.clock.advance(1000);
  assert.deepEqual([ended(), marks], [null, ['ada true']]);
  rig.start().respond(1, says({ select: 'a' }));
  await rig.clock.advance(250);
  const waited = await done;
  assert.ok(waited.is === 'closed');
  assert.equal(formatOutcome(waited.decision), 'resolved a');
  assert.deepEqual(marks, ['ada true', 'ada false']);
  assert.equal(rig.clock.waiting, 0);
});

test('a wait of hours makes its mark anew, before it lapses', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  const { marks, stop, done } = waiting(rig);
  await rig.clock.advance(30 * MINUTE);
  assert.ok(marks.length >= 29 && marks.length <= 31, `${marks.length} marks in 30 minutes`);
  stop.abort();
  assert.equal((await done).is, 'stopped');
  assert.equal(marks.at(-1), 'ada false');
});

test('a wait ends at its limit, with the decision open', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  const { marks, done, ended } = waiting(rig, 1100);
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
  const { done } = waiting(rig);
  await rig.clock.advance(MINUTE + 250);
  const waited = await done;
  assert.ok(waited.is === 'closed');
  assert.equal(formatOutcome(waited.decision), 'resolved b');
  assert.ok(rig.inbox.has('decision:1'));
});

test('a wait for what is closed already, or not there, ends at once; the mark of the asking goes too', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  assert.equal((await waiting(rig).done).is, 'none');
  decisions.create(asks({ blocking: true }));
  assert.deepEqual([...rig.waiting], ['ada']);
  decisions.respond(1, says({ select: 'a' }));
  const { marks, done } = waiting(rig);
  assert.equal((await done).is, 'closed');
  assert.deepEqual(marks, ['ada false']);
});

test('a wait whose database fails takes its mark away and says so', async () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.create(asks());
  let polls = 0;
  const { marks, done } = waiting(rig, null, (id) => {
    polls += 1;
    if (polls > 2) throw new Error('the disk is gone');
    return decisions.get(id);
  });
  const failed = assert.rejects(done, /the disk is gone/);
  await rig.clock.advance(1000);
  await failed;
  assert.deepEqual(marks, ['ada true', 'ada false']);
});

test('of two waits of a persona the mark goes with the last, whichever ends first; another persona is no matter', async () => {
  for (const first of [0, 1] as const) {
    using rig = decisionRig();
    const decisions = rig.start();
    decisions.create(asks());
    const waits = [decisions.waiting('ada'), rig.start().waiting('ada')] as const;
    const other = decisions.waiting('bo');
    for (const wait of [...waits, other]) wait.renew();
    assert.deepEqual([...rig.waiting], ['ada', 'bo']);
    waits[first].end();
    assert.deepEqual([...rig.waiting], ['ada', 'bo']);
    waits[first].end();
    waits[1 - first]?.end();
    assert.deepEqual([...rig.waiting], ['bo']);
    other.end();
    assert.deepEqual([...rig.waiting], []);
  }
});

test('a wait that was killed keeps the mark for a while and no longer, and one that goes on keeps it', () => {
  using rig = decisionRig();
  const decisions = rig.start();
  decisions.waiting('ada').renew(); // and nothing more is heard of it
  const alive = decisions.waiting('ada');
  alive.renew();
  alive.end();
  assert.deepEqual([...rig.waiting], ['ada'], 'it may be alive');
  alive.renew();
  rig.clock.setBy(RENEW_WAIT_MS);
  alive.renew();
  rig.clock.setBy(100_000);
  const third = decisions.waiting('ada');
  third.renew();
  third.end();
  assert.deepEqual([...rig.waiting], ['ada']);
  alive.end();
  assert.deepEqual([...rig.waiting], []);
});
