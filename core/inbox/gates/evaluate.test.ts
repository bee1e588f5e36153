import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BUILT_INS } from './built-ins.ts';
import { evaluateGates, type GateEvaluation, type GateQuestion, MOST_BLOCKS } from './evaluate.ts';
import { findTerminal, type Gate, type GateMark, type GateState, HOOKS, type MarkProvenance } from './gate.ts';

const NOW = 1_750_000_000_000;
const HOUR = 3_600_000;

function gate(id: string, given: Partial<Gate> = {}): Gate {
  const plain = { hook: 'Stop', mode: 'strict', hint: null, check: null, matcher: null, ttlSeconds: null } as const;
  return { id, description: `${id} is open`, ...plain, ...given };
}

function mark(given: Partial<GateMark> = {}): GateMark {
  return { by: 'operator', at: NOW, session: 's1', terminal: null, ...given };
}

function toGateState(definition: Gate, gateMark: GateMark | null = null): GateState {
  return { gate: definition, mark: gateMark, isBuiltIn: false };
}

function ask(standings: readonly GateState[], given: Partial<GateQuestion> = {}): GateEvaluation {
  return evaluateGates({
    hook: 'Stop',
    gateStates: standings,
    checks: new Map(),
    turn: { blocks: [], open: [] },
    now: NOW,
    session: 's1',
    terminal: null,
    stopHookActive: false,
    apiError: false,
    soft: false,
    also: '',
    call: null,
    ...given,
  });
}

const isOpen = (definition: Gate, gateMark: GateMark | null, given: Partial<GateQuestion> = {}): boolean =>
  ask([toGateState(definition, gateMark)], given).results[0]?.satisfied === false;

describe('a verdict', () => {
  test('blocks for strict gates, joined by "; ", and warns of soft ones with their hints', () => {
    const gates = [gate('b', { hint: 'do b' }), gate('a'), gate('c', { mode: 'soft', hint: 'do c' })];
    const { decision, reason, warnings, results } = ask(gates.map((definition) => toGateState(definition)));
    assert.equal(decision, 'block');
    assert.equal(reason, 'b: b is open (do b); a: a is open');
    assert.deepEqual(warnings, ['c: c is open (do c)']);
    assert.deepEqual(results[0], {
      gate_id: 'b',
      hook: 'Stop',
      satisfied: false,
      mode: 'strict',
      message: 'b is open',
      hint: 'do b',
    });
  });

  test('allows without a reason when only soft gates are open, or with `soft` any', () => {
    const soft = ask([toGateState(gate('a', { mode: 'soft' })), toGateState(gate('b'), mark())]);
    assert.deepEqual([soft.decision, soft.reason, soft.letGo], ['allow', '', null]);
    const all = ask([toGateState(gate('a'))], { soft: true });
    assert.deepEqual([all.decision, all.results[0]?.mode, all.warnings], ['allow', 'soft', ['a: a is open']]);
  });

  test('C5 has a bound at the hooks where a block makes the harness go on by itself, and at no other', () => {
    const turn = { blocks: Array.from({ length: MOST_BLOCKS }, (_, i) => `print ${i}`), open: [] };
    const at = (hook: (typeof HOOKS)[number]) => ask([toGateState(gate('a', { hook }))], { hook, turn }).decision;
    assert.deepEqual(
      HOOKS.map((hook) => [hook, at(hook)]),
      [
        ['Stop', 'allow'],
        ['PreToolUse', 'block'],
        ['UserPromptSubmit', 'block'],
        ['PreCompact', 'allow'],
      ],
    );
  });

  test('is of the gates of its hook alone', () => {
    const gates = [toGateState(gate('tool', { hook: 'PreToolUse' })), toGateState(gate('mark', { hook: null }))];
    assert.deepEqual(ask(gates).results, []);
    assert.equal(ask(gates, { hook: 'PreToolUse' }).reason, 'tool: tool is open');
  });
});

describe('a mark holds', () => {
  test('as long as its gate lets it, to the millisecond', () => {
    const hourly = gate('a', { ttlSeconds: 3600 });
    assert.equal(isOpen(hourly, mark({ at: NOW - HOUR + 1 })), false);
    assert.equal(isOpen(hourly, mark({ at: NOW - HOUR })), true);
    assert.equal(isOpen(hourly, mark({ at: NOW + HOUR })), true, 'from the future');
    assert.equal(isOpen(gate('a'), mark({ at: NOW - 10_000 * HOUR })), false, 'without a limit');
  });

  test('for its session, for all when it names none, and for one that took its place in the same terminal', () => {
    const other = { session: 's2', terminal: null };
    assert.equal(isOpen(gate('a'), mark({ session: 's1' }), other), true);
    assert.equal(isOpen(gate('a'), mark({ session: null }), other), false);
    const caller = { session: 's2', terminal: 'tmux:%1' };
    assert.equal(isOpen(gate('a'), mark({ terminal: 'tmux:%1' }), caller), false);
    assert.equal(isOpen(gate('a'), mark({ terminal: 'tmux:%1', at: NOW - 12 * HOUR }), caller), true);
    assert.equal(isOpen(gate('a'), mark({ terminal: 'tmux:%2' }), caller), true);
  });

  test('inbox-gates 8.8b: a mark of another session satisfies nothing where no terminal is known on either side', () => {
    assert.equal(isOpen(gate('a'), mark({ session: 's2', terminal: null }), { terminal: null }), true);
    assert.equal(isOpen(gate('a'), mark({ session: 's2', terminal: null }), { terminal: 'tmux:%1' }), true);
    assert.equal(isOpen(gate('a'), mark({ session: 's2', terminal: 'tmux:%1' }), { terminal: null }), true);
  });

  test('for the strict decision gate only when a decision, the operator or the wait says so', () => {
    const decision = gate('decision');
    const holds = (by: MarkProvenance): boolean => !isOpen(decision, mark({ by }));
    assert.deepEqual([holds('decision'), holds('operator'), holds('cli')], [true, true, false]);
    assert.equal(isOpen(gate('decision', { mode: 'soft' }), mark({ by: 'cli' })), false);
    const waiting = (by: MarkProvenance) => toGateState(gate('decision-waiting', { hook: null }), mark({ by }));
    const asked = toGateState(gate('decision', { check: 'decision-waiting' }));
    assert.equal(ask([asked, waiting('decision')]).decision, 'allow');
    assert.equal(ask([asked, waiting('cli')]).decision, 'block');
    assert.equal(ask([asked]).decision, 'block');
  });
});

describe('a check', () => {
  const clean = gate('commit-push', { check: 'commit-push' });
  const clear = new Map([['commit-push', { is: 'clear' }]] as const);
  const open = (detail = 'x') => new Map([['commit-push', { is: 'open', detail }]] as const);

  test('closes its gate and wants a mark for it once', () => {
    assert.deepEqual(ask([toGateState(clean)], { checks: clear }).passed, ['commit-push']);
    assert.deepEqual(ask([toGateState(clean, mark({ by: 'auto' }))], { checks: clear }).passed, []);
    const other = mark({ by: 'auto', session: 's2' });
    assert.deepEqual(ask([toGateState(clean, other)], { checks: clear }).passed, [], 'noted by another session');
    const evidence = { checks: clear, turn: { blocks: [], open: ['commit-push'] } };
    assert.deepEqual(ask([toGateState(clean, mark({ by: 'auto' }))], evidence).passed, ['commit-push']);
  });

  test('is asked again over the mark it left, so that work since does not pass under it; a word stands', () => {
    assert.equal(ask([toGateState(clean, mark({ by: 'auto' }))], { checks: open() }).decision, 'block');
    assert.equal(ask([toGateState(clean, mark({ by: 'cli' }))], { checks: open() }).decision, 'allow');
  });

  test('that failed or was not asked counts as passed, is said, and leaves no mark', () => {
    const failed = ask([toGateState(clean)], { checks: new Map([['commit-push', { is: 'failed', why: 'gone' }]]) });
    assert.deepEqual([failed.decision, failed.passed], ['allow', []]);
    assert.deepEqual(failed.warnings, ['commit-push: not checked, so treated as satisfied: gone']);
    assert.match(ask([toGateState(clean)]).warnings.join(), /was not checked/);
  });
});

describe('the bounds of blocking', () => {
  const strict = [toGateState(gate('a'))];
  const print = ask(strict).print;

  test('no fourth block in a turn', () => {
    const after = (n: number) => ask(strict, { turn: { blocks: new Array<string>(n).fill('other'), open: [] } });
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((n) => after(n).decision),
      ['block', 'block', 'block', 'allow', 'allow'],
    );
    assert.equal(after(3).letGo, 'blocked-enough');
    assert.match(after(3).warnings.join(), /^a: a is open \[released: it blocked 3 times in this turn\]$/);
  });

  test('no block in an error state of the harness', () => {
    const { decision, letGo } = ask(strict, { apiError: true });
    assert.deepEqual([decision, letGo], ['allow', 'api-error']);
  });

  test('inbox-gates 8.9a: the second stop within 60 s is examined, and passes only under stop_hook_active with nothing changed', () => {
    const turn = { blocks: [print], open: ['a'] };
    assert.equal(ask(strict, { turn, now: NOW + 1000 }).decision, 'block');
    assert.equal(ask(strict, { turn, now: NOW + 1000, stopHookActive: true }).letGo, 'nothing-changed');
    const more = [...strict, toGateState(gate('b'))];
    assert.equal(ask(more, { turn, stopHookActive: true }).reason, 'a: a is open; b: b is open');
    const expired = [toGateState(gate('a', { ttlSeconds: 60 }), mark({ at: NOW - 60_000 }))];
    assert.equal(ask(expired, { turn, stopHookActive: true }).decision, 'block');
    assert.equal(ask(strict, { turn, stopHookActive: true, also: '1 open decision' }).decision, 'block');
  });

  test('what a check saw is a change, the mark of a check is none', () => {
    const clean = gate('commit-push', { check: 'commit-push' });
    const seeing = (detail: string) => ({ checks: new Map([['commit-push', { is: 'open', detail }]] as const) });
    const first = ask([toGateState(clean)], seeing('one')).print;
    assert.notEqual(ask([toGateState(clean)], seeing('two')).print, first);
    assert.equal(ask([toGateState(clean, mark({ by: 'auto' }))], seeing('one')).print, first);
  });
});

describe('a mark of the strict decision gate', () => {
  test('is used up by an allow, and by nothing else', () => {
    const decided = toGateState(gate('decision'), mark({ by: 'decision' }));
    assert.deepEqual(ask([decided]).consumed, ['decision']);
    assert.deepEqual(ask([decided], { apiError: true }).consumed, []);
    assert.deepEqual(ask([decided], { hook: 'PreToolUse' }).consumed, []);
    assert.deepEqual(ask([toGateState(gate('decision', { mode: 'soft' }), mark())]).consumed, []);
    assert.deepEqual(ask([toGateState(gate('other'), mark())]).consumed, []);
  });
});

test('the built-ins are those of the table, with their modes and lives', () => {
  const rows = BUILT_INS.map(({ id, hook, mode, ttlSeconds, check }) => `${hook} ${id} ${mode} ${ttlSeconds} ${check}`);
  assert.deepEqual(rows, [
    'Stop decision strict 86400 decision-waiting',
    'Stop commit-push soft 3600 commit-push',
    'Stop bead-update soft 3600 bead-update',
    'Stop mol-gate-pending soft 1800 mol-gate-pending',
    'PreToolUse destructive-op strict 60 null',
    'PreToolUse sandbox-boundary soft 60 null',
    'UserPromptSubmit context-injection soft 300 null',
    'UserPromptSubmit stale-context soft 300 null',
    'PreCompact state-checkpoint soft 300 null',
    'PreCompact dirty-work soft 3600 null',
    'null decision-waiting soft 1800 null',
  ]);
});

test('a terminal is a pane of one tmux server, or what the terminal program calls itself', () => {
  const pane = { TMUX: '/tmp/tmux-0/default,77,1', TMUX_PANE: '%4' };
  assert.equal(findTerminal(pane), 'tmux:/tmp/tmux-0/default,77:%4');
  assert.equal(
    findTerminal({ ...pane, TMUX: '/tmp/tmux-0/default,77,9' }),
    findTerminal(pane),
    'whatever the tmux session',
  );
  assert.equal(findTerminal({ TMUX_PANE: '%4' }), null);
  assert.equal(findTerminal({ TERM_SESSION_ID: 'w0t1' }), 'term:w0t1');
  assert.equal(findTerminal({}), null);
});

test('whatever the gates and the turn, a block is strict, open, and within the bounds', () => {
  const marks = fc.option(
    fc.record({
      by: fc.constantFrom('auto', 'cli', 'decision', 'operator') as fc.Arbitrary<MarkProvenance>,
      at: fc.integer({ min: NOW - 2 * HOUR, max: NOW + 2 * HOUR }),
      session: fc.constantFrom('s1', 's2', null),
      terminal: fc.constantFrom('t1', null),
    }),
  );
  const gates = fc.record({
    id: fc.constantFrom('decision', 'commit-push', 'x', 'y'),
    hook: fc.constantFrom('Stop', 'PreToolUse', null) as fc.Arbitrary<Gate['hook']>,
    mode: fc.constantFrom('strict', 'soft') as fc.Arbitrary<Gate['mode']>,
    description: fc.constant('text'),
    hint: fc.constantFrom('hint', null),
    check: fc.constantFrom('commit-push', 'decision-waiting', null) as fc.Arbitrary<Gate['check']>,
    matcher: fc.constant(null),
    ttlSeconds: fc.constantFrom(3600, null),
  });
  const standings = fc.uniqueArray(fc.tuple(gates, marks), { selector: ([{ id }]) => id, maxLength: 4 });
  const turns = fc.record({ n: fc.nat({ max: 5 }), isSame: fc.boolean() });
  const flags = fc.record({ stopHookActive: fc.boolean(), apiError: fc.boolean(), soft: fc.boolean() });
  fc.assert(
    fc.property(standings, turns, flags, (pairs, { n, isSame }, given) => {
      const all = pairs.map(([definition, gateMark]) => toGateState(definition, gateMark));
      const last = isSame ? ask(all, given).print : 'other';
      const turn = { blocks: new Array<string>(n).fill(last), open: [] };
      const verdict = ask(all, { ...given, turn });
      const strict = verdict.results.filter(({ satisfied, mode }) => !satisfied && mode === 'strict');
      const isNothingNew = given.stopHookActive && isSame && n > 0;
      const mayBlock = n < MOST_BLOCKS && !given.apiError && !isNothingNew;
      assert.equal(verdict.decision === 'block', strict.length > 0 && mayBlock);
      assert.equal(verdict.reason !== '', verdict.decision === 'block');
      if (given.soft) assert.equal(verdict.decision, 'allow');
    }),
  );
});
