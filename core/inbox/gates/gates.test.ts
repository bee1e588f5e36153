import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { check, DECISION_GATE, failing, gate, mark, ONE_QUESTION, rig } from '../../../test/kit/gates-rig.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { DecisionGates } from '../decisions/index.ts';
import { createGatesForDecisions } from './decision-gates.ts';
import type { CheckAnswer, GitCheck } from './evaluate.ts';
import { NO_OPEN_DECISIONS } from './gate.ts';
import { openGates } from './gates.ts';

describe('marks', () => {
  test('inbox-gates 8.8a: a mark of one persona satisfies no gate of another, with one terminal and one session id', async () => {
    using space = scratch();
    const all = rig(space);
    const terminal = 'tmux:%1';
    all.gates.mark('ada', 'decision', { by: 'operator', session: null, terminal, tells: true });
    assert.equal((await check(all, { persona: 'bo', terminal })).decision, 'block');
    assert.equal((await check(all, { persona: 'Ada', terminal })).decision, 'block');
    assert.equal((await check(all, { terminal })).decision, 'allow');
  });

  test('of the strict decision gate is consumed by the stop it allowed', async () => {
    using space = scratch();
    const all = rig(space);
    mark(all, 'decision', 'decision', null);
    assert.equal((await check(all)).decision, 'allow');
    assert.equal(all.gates.find('ada', 'decision')?.mark, null);
    assert.equal((await check(all)).decision, 'block');
  });

  test('of the strict decision gate is kept by a stop that another gate blocked', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('deploy'));
    mark(all, 'decision', 'decision');
    assert.equal((await check(all)).reason, 'deploy: deploy is open');
    mark(all, 'deploy');
    assert.equal((await check(all)).decision, 'allow');
  });

  test('run out with the time to live of their gate', async () => {
    using space = scratch();
    const all = rig(space);
    const tool = { hook: 'PreToolUse' } as const;
    mark(all, 'destructive-op', 'cli');
    all.clock.stopFor(59_999);
    assert.equal((await check(all, tool)).decision, 'allow');
    all.clock.stopFor(1);
    assert.equal((await check(all, tool)).decision, 'block');
  });

  test('of decisions close the gate for every session and tell nothing, and a new question opens it', async () => {
    using space = scratch();
    const all = rig(space);
    const decided: DecisionGates = createGatesForDecisions(all.gates);
    all.gates.register('ada', DECISION_GATE);
    decided.waiting('ada', true);
    assert.equal((await check(all)).decision, 'allow', 'it waits for the answer');
    decided.waiting('ada', false);
    assert.equal((await check(all)).decision, 'block');
    decided.close('ada');
    decided.open('ada');
    assert.equal((await check(all)).decision, 'block');
    decided.close('ada');
    assert.equal((await check(all, { session: 's2' })).decision, 'allow');
    assert.deepEqual(all.pushed, []);
  });

  test('clear takes them away by gate or by hook, and says which', () => {
    using space = scratch();
    const all = rig(space);
    for (const id of ['commit-push', 'destructive-op', 'dirty-work']) mark(all, id);
    assert.deepEqual(
      all.gates.clear('ada', ({ hook }) => hook === 'Stop'),
      ['commit-push'],
    );
    assert.deepEqual(
      all.gates.clear('ada', () => true),
      ['destructive-op', 'dirty-work'],
    );
    assert.deepEqual(
      all.gates.clear('ada', () => true),
      [],
    );
  });

  test('of soft gates end with their session, others stay', () => {
    using space = scratch();
    const all = rig(space);
    mark(all, 'commit-push');
    mark(all, 'dirty-work', 'cli', 's2');
    mark(all, 'decision');
    all.gates.endSession('ada', 's1');
    const marked = all.gates.list('ada').gateStates.filter((state) => state.mark !== null);
    assert.deepEqual(
      marked.map((state) => state.gate.id),
      ['decision', 'dirty-work'],
    );
  });

  test('of a session with an odd name hold for it, and leave the gate whole', async () => {
    using space = scratch();
    const all = rig(space);
    for (const session of [' ', 'x'.repeat(5000), '\ud800', '../../x\u0000']) {
      mark(all, 'decision', 'operator', session);
      assert.deepEqual(all.gates.list('ada').odd, []);
      assert.equal((await check(all, { session: `${session}y` })).decision, 'block');
      assert.equal((await check(all, { session })).decision, 'allow');
    }
    assert.deepEqual(space.list(), ['gates']);
  });

  test('of no gate are refused', () => {
    using space = scratch();
    const all = rig(space);
    assert.equal(mark(all, 'no-such'), null);
    assert.equal(mark(all, '../../x'), null);
    assert.deepEqual(space.list(), []);
  });
});

describe('an item in the inbox', () => {
  test('comes once for a gate that a mark resolves, and once more when it resolves again', async () => {
    using space = scratch();
    const all = rig(space);
    mark(all, 'commit-push', 'cli');
    mark(all, 'commit-push', 'cli');
    const [item, ...more] = all.pushed;
    assert.deepEqual(more, []);
    assert.deepEqual([item?.persona, item?.type, item?.priority], ['ada', 'gate', 2]);
    assert.equal(item?.content, 'Gate commit-push resolved: it was marked');
    assert.match(item?.key ?? '', /^gate:commit-push:ada:/);
    all.gates.clear('ada', () => true);
    all.clock.stopFor(1000);
    mark(all, 'commit-push', 'cli');
    mark(all, 'commit-push', 'cli', 's1', 'bo');
    assert.equal(new Set(all.pushed.map((entry) => entry.key)).size, 3);
  });

  test('comes for a check that passes after the session was told it does not, and for no other', async () => {
    using space = scratch();
    const all = rig(space);
    const say = async (git: CheckAnswer): Promise<number> => {
      all.git = git;
      await check(all, { soft: true });
      return all.pushed.length;
    };
    const dirty = { is: 'open', detail: 'x' } as const;
    const clean = { is: 'clear' } as const;
    assert.deepEqual([await say(clean), await say(clean), await say(dirty), await say(dirty)], [0, 0, 0, 0]);
    await check(all, { hook: 'UserPromptSubmit' }); // what was told outlives the turn
    assert.deepEqual([await say(clean), await say(clean), await say(dirty)], [1, 1, 1]);
    all.clock.stopFor(1000);
    assert.equal(await say(clean), 2);
    assert.equal(all.pushed[0]?.content, 'Gate commit-push resolved: its check passed');
    assert.equal(all.gates.find('ada', 'commit-push')?.mark?.by, 'auto');
  });

  test('that cannot be pushed leaves the gate satisfied', async () => {
    using space = scratch();
    const { clock } = rig(space);
    const output: string[] = [];
    const disk = createRealDisk({ ...silentLog, warn: (line) => output.push(line) });
    const git: GitCheck = async () => ({ is: 'clear' });
    const items = () => assert.fail('locked');
    const gates = openGates({
      disk,
      random: realRandom,
      clock,
      state: space.dir,
      git,
      items,
      findOpenDecisions: NO_OPEN_DECISIONS,
    });
    gates.mark('ada', 'decision', { by: 'operator', session: null, terminal: null, tells: true });
    assert.match(output.join(), /ada could not be notified that it resolved: locked/);
    assert.equal((await check({ gates, space })).decision, 'allow');
  });
});

test('a directory that cannot be read lets the session go', async () => {
  using space = scratch();
  const all = rig(space);
  all.gates.register('ada', gate('deploy'));
  writeFileSync(space.at('gates', 'bo'), 'a file');
  const { decision, warnings, results } = await check(all, { persona: 'bo' });
  assert.deepEqual([decision, results], ['allow', []]);
  assert.match(warnings.join(), /the gates could not be checked: /);
});

test('the state of each gate is told without changing anything', async () => {
  using space = scratch();
  const all = rig(space);
  mark(all, 'decision');
  all.git = { is: 'open', detail: 'x' };
  const before = readFileSync(all.file('decision'), 'utf8');
  const caller = { persona: 'ada', session: 's1', terminal: null, cwd: space.dir, env: { GT_HOOK_BEAD: 'b-1' } };
  const states = await all.gates.status(caller);
  const satisfied = states.filter((state) => state.isSatisfied).map((state) => state.gate.id);
  assert.deepEqual([states.length, satisfied], [10, ['decision']]);
  assert.equal(readFileSync(all.file('decision'), 'utf8'), before);
  assert.deepEqual(readdirSync(space.at('gates', 'ada')), ['decision.json']);
});

describe('the gate `decision`', () => {
  test('holds nobody who asked nothing and registered nothing, and is no result then', async () => {
    using space = scratch();
    const all = rig(space);
    all.asked = [];
    for (const flags of [{}, { stopHookActive: true }, { hook: 'UserPromptSubmit' }, {}] as const) {
      const { decision, reason, results } = await check(all, flags);
      assert.deepEqual(
        [decision, reason, results.some((result) => result.gate_id === 'decision')],
        ['allow', '', false],
      );
    }
    assert.deepEqual(all.gates.open('ada'), []);
    assert.ok(!all.gates.listHookGates('ada').some((state) => state.gate.id === 'decision'));
  });

  test('holds who asked, and says what, how it began and how to wait', async () => {
    using space = scratch();
    const all = rig(space);
    assert.equal(
      (await check(all)).reason,
      'decision: decision 7 ("Which way?") is not answered (hivebar decision wait 7)',
    );
    const long = `Deploy\n\nto ${'production '.repeat(20)}`;
    all.asked = [{ id: 8, prompt: long }, ...[9, 10, 11, 12, 13].map((id) => ({ id, prompt: 'x' }))];
    const { reason } = await check(all);
    assert.match(
      reason,
      /^decision: decision 8 \("Deploy to production [^\n"]{40,70}\.\.\."\) is not answered, nor 9, 10, 11, 12 and more/,
    );
    all.asked = [];
    assert.equal((await check(all, { stopHookActive: true })).decision, 'allow', 'answered');
  });

  test('lets a persona that waits stop, and one that the operator lets, once', async () => {
    using space = scratch();
    const all = rig(space);
    const decided = createGatesForDecisions(all.gates);
    decided.waiting('ada', true);
    assert.equal((await check(all)).decision, 'allow');
    assert.deepEqual(all.gates.open('ada'), []);
    decided.waiting('ada', false);
    mark(all, 'decision');
    assert.deepEqual(all.gates.open('ada'), []);
    assert.equal((await check(all)).decision, 'allow');
    assert.equal((await check(all)).decision, 'block');
  });

  test('holds every stop once it was registered: after an answer one goes through, and the next is held again', async () => {
    using space = scratch();
    const all = rig(space);
    all.asked = [];
    all.gates.register('ada', DECISION_GATE);
    assert.deepEqual(failing(await check(all)), ['decision'], 'the same words as the built-in one');
    createGatesForDecisions(all.gates).close('ada');
    assert.equal((await check(all)).decision, 'allow');
    assert.equal((await check(all)).decision, 'block');
    assert.deepEqual(failing(await check(rig(space))), ['decision'], 'after its mark was written too');
    all.asked = ONE_QUESTION;
    assert.match((await check(all, { session: 's2' })).reason, /is still open; decision 7 \("Which way\?"\)/);
    assert.equal((await check(all, { persona: 'bo', session: 's2' })).reason.includes('; decision 7'), false);
  });

  test('keeps no answer for a gate that is registered later', async () => {
    using space = scratch();
    const all = rig(space);
    all.asked = [];
    createGatesForDecisions(all.gates).close('ada');
    assert.deepEqual(space.list(), []);
    all.gates.register('ada', DECISION_GATE);
    assert.equal((await check(all)).decision, 'block');
  });

  test('holds nobody when it cannot be looked up what was asked, and that is said; a registered one holds', async () => {
    using space = scratch();
    const all = rig(space);
    Object.defineProperty(all, 'asked', { get: () => assert.fail('database is locked') });
    const { decision, warnings } = await check(all);
    assert.equal(decision, 'allow');
    assert.match(warnings.join(), /open decisions could not be looked up.*database is locked/);
    all.gates.register('ada', DECISION_GATE);
    assert.equal((await check(all)).decision, 'block');
  });
});

test('what is open for a person to see is what somebody put there and nothing satisfies, and git is not run for it', () => {
  using space = scratch();
  const all = rig(space);
  Object.defineProperty(all, 'git', { get: () => assert.fail('git was run') });
  const open = (): readonly string[] => all.gates.open('ada').map((state) => state.gate.id);
  assert.deepEqual(open(), ['decision']);
  all.asked = [];
  assert.deepEqual(open(), []);
  all.gates.register('ada', gate('deploy'));
  all.gates.register('ada', gate('tidy', { mode: 'soft', hook: 'PreCompact', ttlSeconds: 60 }));
  all.gates.register('ada', gate('sandbox-boundary', { hook: 'PreToolUse' }));
  all.gates.register('ada', gate('pushed', { check: 'commit-push' }));
  assert.deepEqual(open(), ['sandbox-boundary', 'deploy', 'pushed', 'tidy']);
  mark(all, 'deploy');
  mark(all, 'sandbox-boundary');
  mark(all, 'tidy', 'cli', 's9');
  mark(all, 'pushed', 'auto');
  assert.deepEqual(open(), []);
  all.clock.stopFor(60_000);
  assert.deepEqual(open(), ['tidy']);
});

test('of a registered gate with a check a person sees what the last hook found', async () => {
  using space = scratch();
  const all = rig(space);
  all.asked = [];
  all.gates.register('ada', gate('pushed', { check: 'commit-push' }));
  const open = async (git: CheckAnswer): Promise<readonly string[]> => {
    all.git = git;
    await check(all);
    return all.gates.open('ada').map((state) => state.gate.id);
  };
  assert.deepEqual(await open({ is: 'clear' }), []);
  assert.deepEqual(await open({ is: 'open', detail: 'x' }), ['pushed']);
  assert.deepEqual(await open({ is: 'clear' }), []);
  assert.equal(all.pushed.filter(({ content }) => content.startsWith('Gate pushed ')).length, 1);
});

test('of gates that hold nothing now it is told that they do not count', async () => {
  using space = scratch();
  const all = rig(space);
  const decision = async () => {
    const caller = { persona: 'ada', session: 's1', terminal: null, cwd: space.dir, env: {} };
    const { counts, isSatisfied, gate: definition } = (await all.gates.status(caller))[0] ?? assert.fail();
    return [definition.id, counts, isSatisfied];
  };
  assert.deepEqual(await decision(), ['decision', true, false]);
  all.asked = [];
  assert.deepEqual(await decision(), ['decision', false, true]);
  all.gates.register('ada', DECISION_GATE);
  assert.deepEqual(await decision(), ['decision', true, false]);
});
