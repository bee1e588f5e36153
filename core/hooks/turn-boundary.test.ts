import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  AT_REST,
  advancePacing,
  computeTurnHash,
  decideMove,
  findHarness,
  HOOK_EVENTS,
  type HookEvent,
  type HookMoment,
  type HookMove,
  type HookTurn,
  isTurnStart,
  LOOP,
  MOST_CONTINUES,
  type Pacing,
  recordBlock,
  recordContinue,
  toPacing,
} from './index.ts';

const NONE = [0, 0, 0, 0, 0] as const;
const turn = (given: Partial<HookTurn> = {}): HookTurn => ({
  ...{ event: 'Stop', session: 's', cwd: '/tmp', id: null, persona: null, stopHookActive: null },
  ...{
    transcript: null,
    lastMessage: null,
    failure: null,
    isContinued: false,
    tool: null,
    isSubagent: false,
    agent: null,
    isAsking: false,
    notification: null,
    start: null,
    permissionMode: null,
    model: null,
  },
  ...given,
});
const moment = (given: Partial<HookMoment> = {}): HookMoment => ({
  ...{ event: 'Stop', carries: { text: true, block: true }, gates: { lacks: null, warnings: [] }, pending: NONE },
  ...{ waiting: '', pacing: AT_REST, failure: null, isSubagent: false },
  ...{ delivery: 'inject', onStop: 'continue', now: 0 },
  ...given,
});
const OPEN = { lacks: 'decision: none was asked for', warnings: [] };

describe('what is drained when', () => {
  const injected = (event: HookEvent, pending: HookMoment['pending']): HookMove =>
    decideMove(moment({ event, pending }));

  test('all of it at SessionStart and UserPromptSubmit', () => {
    for (const event of ['SessionStart', 'UserPromptSubmit'] as const) {
      assert.deepEqual(injected(event, [0, 0, 0, 0, 1]), { is: 'inject', upTo: 4 });
      assert.deepEqual(injected(event, NONE), { is: 'allow' });
    }
  });

  test('priority 0 and 1 after a tool call', () => {
    assert.deepEqual(injected('PostToolUse', [0, 1, 9, 0, 0]), { is: 'inject', upTo: 1 });
    assert.deepEqual(injected('PostToolUse', [0, 0, 9, 9, 9]), { is: 'allow' });
  });

  test('inbox-gates 8.2a: nothing at PreCompact, SessionEnd, PreToolUse and after a failure of the model', () => {
    for (const event of ['PreCompact', 'SessionEnd', 'PreToolUse', 'StopFailure'] as const)
      assert.deepEqual(injected(event, [9, 9, 9, 9, 9]), { is: 'allow' });
  });

  test('nothing for a helper of the agent: what it is shown the persona has not seen', () => {
    for (const event of HOOK_EVENTS)
      assert.deepEqual(decideMove(moment({ event, isSubagent: true, pending: [1, 1, 1, 1, 1], gates: OPEN })), {
        is: 'allow',
      });
  });

  test('inbox-gates 8.13d: an idle session that is at a Stop drains what is urgent, and leaves the rest', () => {
    assert.deepEqual(injected('Stop', [1, 0, 0, 0, 0]), { is: 'inject', upTo: 1 });
    assert.deepEqual(injected('Stop', [0, 0, 5, 5, 5]), { is: 'allow' });
    assert.deepEqual(decideMove(moment({ pending: [1, 0, 0, 0, 0], onStop: 'leave' })), { is: 'allow' });
  });
});

describe('gates at a Stop', () => {
  test('inbox-gates 8.2b, seed 23: go first, and what is pending goes into the reason', () => {
    assert.deepEqual(decideMove(moment({ gates: OPEN, pending: [1, 0, 0, 0, 0] })), { is: 'block', tells: 'inject' });
    assert.deepEqual(decideMove(moment({ gates: OPEN, pending: [0, 0, 0, 0, 1] })), { is: 'block', tells: 'inject' });
    assert.deepEqual(decideMove(moment({ gates: OPEN, pending: [0, 0, 1, 0, 0], delivery: 'doorbell' })), {
      ...{ is: 'block', tells: 'ring' },
    });
    assert.deepEqual(decideMove(moment({ gates: OPEN })), { is: 'block', tells: null });
  });

  test('hold as often as they lack something: the bounds are theirs', () => {
    let pacing = AT_REST;
    for (let n = 0; n < LOOP.stops; n += 1) {
      assert.equal(decideMove(moment({ gates: OPEN, pacing, now: n * LOOP.withinMs })).is, 'block');
      pacing = recordBlock(pacing, n * LOOP.withinMs);
    }
  });

  test('see another state when something came, or when the agent said or did something since they held it', () => {
    const held = recordBlock(AT_REST, 0);
    const state = computeTurnHash(held, NONE, 'done');
    assert.equal(computeTurnHash(recordBlock(held, 9), NONE, 'done'), state);
    assert.notEqual(computeTurnHash(held, NONE, 'really done'), state);
    assert.notEqual(computeTurnHash(held, NONE, null), state);
    assert.notEqual(computeTurnHash(held, [0, 0, 0, 1, 0], 'done'), state);
    const tool = turn({ event: 'PostToolUse' });
    const worked = advancePacing(held, tool);
    assert.notEqual(computeTurnHash(worked, NONE, 'done'), state);
    // Two tools between two stops are one change, and none is written down for the second.
    assert.equal(advancePacing(worked, tool), worked);
    // Held again: what was done before that is no change any more.
    const heldAgain = recordBlock(worked, 1);
    assert.equal(computeTurnHash(heldAgain, NONE, 'done'), computeTurnHash(worked, NONE, 'done'));
    assert.notEqual(
      computeTurnHash(advancePacing(heldAgain, tool), NONE, 'done'),
      computeTurnHash(heldAgain, NONE, 'done'),
    );
    // What is done before they hold it is no change either.
    assert.equal(advancePacing(AT_REST, tool), AT_REST);
  });

  test('do not hold an agent whose model cannot be asked', () => {
    assert.equal(decideMove(moment({ gates: OPEN, failure: 'rate_limit', pending: [1, 1, 1, 1, 1] })).is, 'allow');
  });

  test('a block at UserPromptSubmit takes no items with it: its reason is shown to the person', () => {
    const move = decideMove(moment({ event: 'UserPromptSubmit', gates: OPEN, pending: [1, 1, 1, 1, 1] }));
    assert.deepEqual(move, { is: 'block', tells: null });
  });

  test('do not hold where the harness cannot be held', () => {
    const carries = { text: true, block: false };
    for (const event of HOOK_EVENTS) assert.notEqual(decideMove(moment({ event, carries, gates: OPEN })).is, 'block');
  });
});

describe('a doorbell', () => {
  const ring = (event: HookEvent, pacing: Pacing): HookMove =>
    decideMove(moment({ event, pacing, delivery: 'doorbell', pending: [1, 0, 0, 0, 0], waiting: 'a' }));

  test('rings at each prompt, and in the middle of a turn only for what is new', () => {
    const rung = { ...AT_REST, rung: 'a' };
    for (const event of ['SessionStart', 'UserPromptSubmit'] as const) assert.equal(ring(event, rung).is, 'ring');
    for (const event of ['PostToolUse', 'Stop'] as const) {
      assert.equal(ring(event, rung).is, 'allow');
      assert.equal(ring(event, AT_REST).is, 'ring');
    }
  });
});

describe('a turn', () => {
  const held = recordBlock({ ...AT_REST, moves: 2 }, 5);

  test('begins with a prompt, a session, another name, or a Stop that nothing of ours let go on', () => {
    const begun = { ...AT_REST, stops: [5] };
    assert.deepEqual(advancePacing(held, turn({ event: 'UserPromptSubmit' })), begun);
    assert.deepEqual(advancePacing(held, turn({ event: 'SessionStart' })), begun);
    assert.deepEqual(advancePacing(held, turn({ stopHookActive: false })), begun);
    assert.deepEqual(advancePacing({ ...held, turn: 'a' }, turn({ stopHookActive: true, id: 'b' })), {
      ...begun,
      turn: 'b',
    });
  });

  test('goes on otherwise', () => {
    assert.equal(advancePacing(held, turn({ stopHookActive: true })), held);
    assert.equal(advancePacing(held, turn({ stopHookActive: null })), held);
    assert.equal(advancePacing(held, turn({ event: 'UserPromptSubmit', isSubagent: true })), held);
  });

  test('is kept as JSON; what does not fit is a session at rest', () => {
    assert.deepEqual(toPacing(JSON.parse(JSON.stringify(held))), held);
    for (const odd of [null, 7, 'x', [], {}, { moves: -1, stops: ['x'], held: 7, turn: 1, continued: 1.5 }])
      assert.deepEqual(toPacing(odd), AT_REST);
  });
});

/** A harness at its worst: any event in any order, any word of its turns, the clock standing still or jumping. */
const calls = fc.array(
  fc.record({
    event: fc.constantFrom<HookEvent>('Stop', 'Stop', 'Stop', 'Stop', 'PostToolUse', 'PreCompact'),
    stopHookActive: fc.constantFrom(true, true, null),
    lacks: fc.option(fc.constantFrom('x', 'y')),
    pending: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.nat(2), fc.nat(2)),
    delivery: fc.constantFrom('inject' as const, 'doorbell' as const),
    waiting: fc.constantFrom('1', '2'),
    passes: fc.integer({ min: 0, max: 200_000 }),
  }),
  { maxLength: 60 },
);

interface DrivenDaemon {
  readonly call: { readonly event: HookEvent; readonly lacks: string | null };
  readonly move: HookMove;
  readonly now: number;
}

function played(
  asked: typeof calls extends fc.Arbitrary<infer T> ? T : never,
  words: Partial<HookTurn>,
): readonly DrivenDaemon[] {
  const harness = findHarness('claude', null);
  assert.ok(harness !== null);
  let pacing = AT_REST;
  let now = 0;
  return asked.map((call) => {
    now += call.passes;
    const output = turn({ event: call.event, stopHookActive: call.stopHookActive, ...words });
    pacing = advancePacing(pacing, output);
    const { event, pending, waiting, delivery } = call;
    const gates = { lacks: call.lacks, warnings: [] };
    const carries = harness.carries(output);
    const move = decideMove(moment({ event, carries, gates, pending, waiting, pacing, delivery, now }));
    if (event === 'Stop' && move.is === 'block') pacing = recordBlock(pacing, now);
    else if (event === 'Stop' && move.is !== 'allow') pacing = { ...recordContinue(pacing, now), rung: waiting };
    pacing = toPacing(JSON.parse(JSON.stringify(pacing)));
    return { call, move, now };
  });
}

describe('bounds, whatever a harness does', () => {
  test(`one turn goes on ${MOST_CONTINUES} times for mail, at the most`, () => {
    fc.assert(
      fc.property(calls, (asked) => {
        const stops = played(asked, {}).filter(({ call }) => call.event === 'Stop');
        assert.ok(stops.filter(({ move }) => move.is === 'inject' || move.is === 'ring').length <= MOST_CONTINUES);
      }),
    );
  });

  test('seed 23: a harness that calls every Stop a new turn is let go after a few in a short time', () => {
    fc.assert(
      fc.property(calls, (asked) => {
        const on = played(asked, { stopHookActive: false }).filter(
          ({ call, move }) => call.event === 'Stop' && move.is !== 'allow',
        );
        for (const [n, { now }] of on.entries()) {
          const before = on[n - LOOP.stops];
          assert.ok(before === undefined || now - before.now >= LOOP.withinMs);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the stop after so many in so short a time goes through, and holds again later', () => {
    let pacing = AT_REST;
    const at = (now: number): HookMove => {
      pacing = advancePacing(pacing, turn({ stopHookActive: false }));
      const move = decideMove(moment({ gates: OPEN, pacing, now }));
      if (move.is === 'block') pacing = recordBlock(pacing, now);
      return move;
    };
    for (let n = 0; n < LOOP.stops; n += 1) assert.equal(at(n * 1000).is, 'block');
    assert.equal(at(LOOP.stops * 1000).is, 'allow');
    assert.equal(at(LOOP.withinMs + 1).is, 'block');
  });

  test('nothing is held without a gate that is open, nothing is told without something pending', () => {
    fc.assert(
      fc.property(calls, (asked) => {
        for (const [n, { call, move }] of played(asked, {}).entries()) {
          if (move.is === 'block') assert.notEqual(call.lacks, null);
          if (move.is === 'inject') assert.ok(asked[n]?.pending.slice(0, move.upTo + 1).some((count) => count > 0));
        }
      }),
    );
  });
});

describe('other agent programs', () => {
  test('given a prompt that no person wrote, no turn begins and no gate of a prompt holds it', () => {
    const prompt = turn({ event: 'UserPromptSubmit', isContinued: true });
    assert.equal(isTurnStart(AT_REST, prompt), false);
    assert.equal(isTurnStart(AT_REST, { ...prompt, isContinued: false }), true);
    const held = moment({ event: 'UserPromptSubmit', gates: OPEN });
    assert.equal(decideMove(held).is, 'block');
    assert.deepEqual(decideMove({ ...held, isContinued: true }), { is: 'allow' });
  });

  test('given a program that shows nothing with a prompt, what could wait for one is shown after a tool', () => {
    const carries = { text: true, block: false, everything: true };
    const after = moment({ event: 'PostToolUse', carries, pending: [0, 0, 1, 0, 0] });
    assert.deepEqual(decideMove(after), { is: 'inject', upTo: 4 });
  });

  test('given a text that arrives as the words of the person, it rings, whatever is asked for', () => {
    const carries = { text: true, block: false, onlyRings: true };
    const stop = moment({ carries, pending: [1, 0, 0, 0, 0], waiting: 'new', delivery: 'inject' });
    assert.deepEqual(decideMove(stop), { is: 'ring' });
    assert.deepEqual(decideMove({ ...stop, pacing: { ...AT_REST, rung: 'new' } }), { is: 'allow' });
  });
});
