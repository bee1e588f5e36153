import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CHANNEL_LAPSES_MS,
  decideNudge,
  formatNudge,
  NUDGE_LAPSES_MS,
  type NudgeFacts,
  type NudgeRecord,
  STARTS_MS,
  WORKS_MS,
} from './nudge.ts';

const NOW = 1_800_000_000_000;
const ONE: NudgeFacts['pending'] = [0, 0, 1, 0, 0];
const IDLE: NudgeFacts = {
  pending: ONE,
  waiting: 1,
  last: { moment: 'Stop', at: NOW - 1000 },
  shownAt: null,
  before: null,
  via: 'other',
  now: NOW,
};
const since = (moment: string, ms: number) => ({ moment, at: NOW - ms });

test('given an idle agent and an item, it is nudged', () => {
  assert.deepEqual(decideNudge(IDLE), { is: 'nudge' });
});

test('inbox-gates 8.13a: given mail that was read before the nudge, none is given', () => {
  assert.deepEqual(decideNudge({ ...IDLE, pending: [0, 0, 0, 0, 0] }), { is: 'none', why: 'nothing waits' });
});

test('inbox-gates 8.13d, seed 26: given an agent at work, it is not nudged, until that moment is so old that the turn was broken off', () => {
  for (const [moment, ms] of Object.entries(WORKS_MS)) {
    assert.deepEqual(decideNudge({ ...IDLE, last: since(moment, ms - 1) }), { is: 'none', why: 'working' }, moment);
    assert.deepEqual(decideNudge({ ...IDLE, last: since(moment, ms) }), { is: 'nudge' }, moment);
  }
});

test('given a session that has just begun, its first prompt is waited for', () => {
  assert.deepEqual(decideNudge({ ...IDLE, last: since('SessionStart', 1000) }), { is: 'later', ms: STARTS_MS - 1000 });
  assert.deepEqual(decideNudge({ ...IDLE, last: since('SessionStart', STARTS_MS) }), { is: 'nudge' });
});

test('given a turn that its person broke off, what they write next is waited for', () => {
  assert.deepEqual(decideNudge({ ...IDLE, last: since('Interrupt', 1000) }), { is: 'later', ms: STARTS_MS - 1000 });
  assert.deepEqual(decideNudge({ ...IDLE, last: since('Interrupt', STARTS_MS) }), { is: 'nudge' });
});

test('given no hook ever, a session that is over or a model that cannot be asked, nobody is nudged', () => {
  assert.deepEqual(decideNudge({ ...IDLE, last: null }), { is: 'none', why: 'unknown' });
  assert.deepEqual(decideNudge({ ...IDLE, last: since('SessionEnd', 1e9) }), { is: 'none', why: 'over' });
  assert.deepEqual(decideNudge({ ...IDLE, last: since('StopFailure', 1e9) }), { is: 'none', why: 'over' });
});

test('given a nudge that is not answered, there is no second one, whatever else comes, until it has lapsed', () => {
  const before = (ms: number): NudgeRecord => ({ waiting: 1, at: NOW - ms, via: 'other' });
  const last = since('Stop', 2 * NUDGE_LAPSES_MS);
  for (const waiting of [1, 2]) {
    const asked = { ...IDLE, last, waiting };
    assert.deepEqual(decideNudge({ ...asked, before: before(NUDGE_LAPSES_MS - 1) }), {
      is: 'none',
      why: 'outstanding',
    });
    assert.deepEqual(decideNudge({ ...asked, before: before(NUDGE_LAPSES_MS) }), { is: 'nudge' });
  }
});

test('given a nudge that was answered, what still waits is not nudged for again, what came since is', () => {
  const before: NudgeRecord = { waiting: 1, at: NOW - 5000, via: 'other' };
  assert.deepEqual(decideNudge({ ...IDLE, before }), { is: 'none', why: 'told' });
  assert.deepEqual(decideNudge({ ...IDLE, before, waiting: 2 }), { is: 'nudge' });
  const later: NudgeRecord = { waiting: 2, at: NOW - 5000, via: 'other' };
  assert.deepEqual(
    decideNudge({ ...IDLE, before: later }),
    { is: 'none', why: 'told' },
    'the newest was read, an older one not',
  );
});

test('given a turn after a nudge that showed some of what waits, the rest is nudged for, once more than it is shown', () => {
  const before: NudgeRecord = { waiting: 9, at: NOW - 5000, via: 'other' };
  const facts: NudgeFacts = { ...IDLE, before, waiting: 9 };
  assert.deepEqual(decideNudge({ ...facts, shownAt: NOW - 4000 }), { is: 'nudge' });
  assert.deepEqual(
    decideNudge({ ...facts, shownAt: NOW - 6000 }),
    { is: 'none', why: 'told' },
    'it was shown them before',
  );
});

test('given a ring over a channel that nobody answered, another way waits a minute and then nudges, and the channel does not repeat it', () => {
  const rung = (ms: number): NudgeFacts => ({
    ...{ ...IDLE, last: since('Stop', 2 * NUDGE_LAPSES_MS) },
    before: { waiting: 1, at: NOW - ms, via: 'channel' },
  });
  assert.deepEqual(decideNudge(rung(CHANNEL_LAPSES_MS - 1)), { is: 'none', why: 'outstanding' });
  assert.deepEqual(decideNudge(rung(CHANNEL_LAPSES_MS)), { is: 'nudge' });
  assert.deepEqual(decideNudge({ ...rung(CHANNEL_LAPSES_MS), via: 'channel' }), { is: 'none', why: 'outstanding' });
});

test('given a turn after a ring over a channel, when the same items still wait, then another way nudges once and the channel never', () => {
  const facts: NudgeFacts = { ...IDLE, before: { waiting: 1, at: NOW - 5000, via: 'channel' } };
  assert.deepEqual(decideNudge(facts), { is: 'nudge' }, 'the ring may have been lost, and the turn another one');
  assert.deepEqual(decideNudge({ ...facts, via: 'channel' }), { is: 'none', why: 'told' });
  assert.deepEqual(decideNudge({ ...facts, before: { waiting: 1, at: NOW - 5000, via: 'other' } }), {
    is: 'none',
    why: 'told',
  });
  assert.deepEqual(decideNudge({ ...facts, via: 'channel', before: { waiting: 1, at: NOW - 5000, via: 'other' } }), {
    is: 'none',
    why: 'told',
  });
});

test('property: over any history, between two nudges there is an answer or the lapse, and none falls on a working agent', () => {
  const move = fc.record({
    ms: fc.integer({ min: 1, max: 40 * 60_000 }),
    moment: fc.constantFrom(null, null, 'Stop', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SessionStart'),
    comes: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      let now = NOW;
      let last: NudgeFacts['last'] = null;
      let before: NudgeRecord | null = null;
      let came = 0;
      for (const { ms, moment, comes } of moves) {
        now += ms;
        if (moment !== null) last = { moment, at: now };
        if (comes) came += 1;
        now += 1;
        const pending: NudgeFacts['pending'] = came > 0 ? ONE : [0, 0, 0, 0, 0];
        const nudge = decideNudge({ pending, waiting: came, last, shownAt: null, before, via: 'other', now });
        if (nudge.is !== 'nudge') continue;
        assert.ok(came > 0 && last !== null);
        assert.ok(now - last.at >= (WORKS_MS[last.moment] ?? 0));
        assert.ok(before === null || last.at > before.at || now - before.at >= NUDGE_LAPSES_MS);
        before = { waiting: came, at: now, via: 'other' };
      }
    }),
  );
});

test('inbox-gates 8.12a: the words of a nudge hold nothing of the items, so nothing of them can be cut', () => {
  assert.equal(formatNudge([0, 0, 1, 0, 0]), 'hivebar: 1 item waits in your inbox');
  assert.equal(formatNudge([1, 2, 0, 0, 40]), 'hivebar: 43 items wait in your inbox (3 urgent)');
});
