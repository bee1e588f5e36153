import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type FakeClock, fakeClock } from '../../../test/kit/fake-clock.ts';
import { fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { realRandom, silentLog } from '../../ports/index.ts';
import { realDisk } from '../../state/index.ts';
import type { DecisionGates } from '../decisions/index.ts';
import type { NewItem } from '../item.ts';
import type { LookAtGit } from './checks.ts';
import type { CheckAnswer, Verdict } from './evaluate.ts';
import { gatesForDecisions } from './for-decisions.ts';
import type { Gate, Provenance } from './gate.ts';
import { type CheckRequest, type Gates, openGates } from './gates.ts';

interface Rig {
  readonly space: Scratch;
  readonly gates: Gates;
  readonly clock: FakeClock;
  readonly pushed: NewItem[];
  /** What git is to say. */
  git: CheckAnswer;
  /** The file of a gate of a persona. */
  file(id: string, persona?: string): string;
}

function rig(space: Scratch): Rig {
  const clock = fakeClock();
  const pushed: NewItem[] = [];
  const push = (items: readonly NewItem[]) => {
    pushed.push(...items);
    return items.map(({ dedupKey }, id) => ({ id, dedupKey: dedupKey ?? '', isNew: true }));
  };
  const git: LookAtGit = async () => made.git;
  const needs = { disk: realDisk(silentLog), random: realRandom, clock, state: space.dir, git };
  const made: Rig = {
    space,
    clock,
    pushed,
    git: { is: 'clear' },
    gates: openGates({ ...needs, items: () => ({ push }) }),
    file: (id, persona = 'ada') => space.at('gates', persona, `${id}.json`),
  };
  return made;
}

function check({ gates, space }: Pick<Rig, 'gates' | 'space'>, given: Partial<CheckRequest> = {}): Promise<Verdict> {
  const flags = { stopHookActive: false, apiError: false, soft: false, also: '' };
  const who = { persona: 'ada', session: 's1', terminal: null, hook: 'Stop' } as const;
  return gates.check({ ...who, ...flags, cwd: space.dir, env: {}, ...given });
}

function gate(id: string, given: Partial<Gate> = {}): Gate {
  const plain = { hook: 'Stop', mode: 'strict', hint: null, check: null, ttlSeconds: null } as const;
  return { id, description: `${id} is open`, ...plain, ...given };
}

function mark({ gates }: Rig, id: string, by: Provenance = 'operator', session: string | null = 's1', persona = 'ada') {
  return gates.mark(persona, id, { by, session, terminal: null, tells: true });
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const failing = (verdict: Verdict) => verdict.results.filter((one) => !one.satisfied).map((one) => one.gate_id);

describe('files', () => {
  test('a fresh persona has the built-ins and no file', async () => {
    using space = scratch();
    const all = rig(space);
    const { decision, reason, results } = await check(all);
    assert.equal(decision, 'block');
    assert.match(reason, /^decision: /);
    assert.deepEqual(
      results.map((one) => one.gate_id),
      ['decision', 'commit-push', 'bead-update', 'mol-gate-pending'],
    );
    assert.equal(all.gates.list('bo').standings.length, 11);
    assert.ok(!space.list().includes('bo'));
  });

  test('a gate that was registered is there for whoever opens the gates next, private and whole', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('deploy', { hint: 'run it', ttlSeconds: 60 }));
    assert.deepEqual([modeOf(all.file('deploy')), modeOf(dirname(all.file('deploy')))], [0o600, 0o700]);
    assert.deepEqual(JSON.parse(readFileSync(all.file('deploy'), 'utf8')), {
      hook: 'Stop',
      mode: 'strict',
      description: 'deploy is open',
      hint: 'run it',
      check: null,
      satisfied_by: null,
      at: null,
      ttl: 60,
      session: null,
      terminal: null,
    });
    assert.match((await check(rig(space))).reason, /deploy: deploy is open \(run it\)$/);
  });

  test('registering again changes the gate and keeps its mark; a built-in can be replaced', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('deploy'));
    mark(all, 'deploy');
    all.gates.register('ada', gate('deploy', { description: 'other' }));
    all.gates.register('ada', gate('decision', { mode: 'soft' }));
    assert.equal((await check(all)).decision, 'allow');
    assert.equal(all.gates.one('ada', 'deploy')?.gate.description, 'other');
    assert.equal((await check(all, { persona: 'bo' })).decision, 'block');
  });

  test('an id that is no file name everywhere, an empty description and an odd time to live are refused', () => {
    using space = scratch();
    const { gates } = rig(space);
    for (const id of ['', '.x', '-x', '../x', 'a/b', 'Deploy', 'con', 'nul.txt', 'x.', 'é', 'x'.repeat(65)]) {
      assert.throws(() => gates.register('ada', gate(id)), { code: 'usage', message: /is no id of a gate/ }, id);
    }
    assert.throws(() => gates.register('ada', gate('x', { description: ' ' })), /description is empty/);
    assert.throws(() => gates.register('ada', gate('x', { ttlSeconds: 0.5 })), /ttl 0.5/);
    assert.throws(() => gates.register('ada', gate('decision-waiting')), /a mark of decisions/);
    assert.deepEqual(space.list(), []);
  });

  test('personas whose names differ in case or hold a path have directories of their own, inside', () => {
    using space = scratch();
    const { gates } = rig(space);
    for (const persona of ['ada', 'Ada', '../ada', 'a/b']) gates.register(persona, gate('deploy'));
    assert.deepEqual(space.list(), ['gates']);
    const names = readdirSync(space.at('gates'));
    assert.equal(names.length, 4);
    assert.ok(names.includes('ada'));
  });

  test('an odd file blocks nothing and is said, the gates beside it are judged', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('good'));
    all.gates.register('ada', gate('decision', { mode: 'soft' }));
    const whole = JSON.parse(readFileSync(all.file('good'), 'utf8')) as Record<string, unknown>;
    const odd: Readonly<Record<string, string>> = {
      torn: JSON.stringify(whole).slice(0, 40),
      empty: '',
      list: '[]',
      hook: JSON.stringify({ ...whole, hook: 'Nope' }),
      mode: JSON.stringify({ ...whole, mode: true }),
      text: JSON.stringify({ ...whole, description: '' }),
      ttl: JSON.stringify({ ...whole, ttl: '60' }),
      at: JSON.stringify({ ...whole, satisfied_by: 'cli', at: 'yesterday' }),
      day: JSON.stringify({ ...whole, satisfied_by: 'cli' }),
      check: JSON.stringify({ ...whole, check: 'rm -rf' }),
      long: JSON.stringify({ ...whole, note: 'x'.repeat(20_000) }),
      Case: JSON.stringify(whole),
    };
    for (const [id, text] of Object.entries(odd)) writeFileSync(all.file(id), text, { mode: 0o600 });
    symlinkSync(all.file('good'), all.file('link'));
    mkdirSync(all.file('directory'));
    const { reason, warnings } = await check(all);
    assert.equal(reason, 'good: good is open');
    const said = [...Object.keys(odd), 'link', 'directory'];
    for (const id of said)
      assert.ok(
        warnings.some((line) => line.startsWith(`${all.file(id)} is not a gate`)),
        id,
      );
    assert.equal(warnings.length, said.length + 1); // and the soft decision
    assert.equal(all.gates.one('ada', 'torn'), null);
  });

  test('an odd file in the place of a built-in blocks nothing either', async () => {
    using space = scratch();
    const all = rig(space);
    mkdirSync(dirname(all.file('decision')), { recursive: true });
    writeFileSync(all.file('decision'), '{"hook": "Stop", "mo');
    const { decision, warnings } = await check(all);
    assert.equal(decision, 'allow');
    assert.match(warnings.join(), /decision\.json is not a gate and blocks nothing/);
  });

  test('a provenance that is not known is no mark: the gate is there, and blocks', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('deploy'));
    mark(all, 'deploy');
    const text = readFileSync(all.file('deploy'), 'utf8');
    writeFileSync(all.file('deploy'), text.replace('"operator"', '"wizard"'));
    assert.deepEqual(failing(await check(all)).includes('deploy'), true);
  });

  test('a kill at any point of a write leaves the old gate or the new, and never blocks by half a file', () => {
    const texts = new Set<string>();
    for (let at = 0; ; at += 1) {
      const files = fakeFiles();
      const disk = { files, log: silentLog, uid: UID };
      const needs = { disk, random: realRandom, clock: fakeClock(), git: async () => ({ is: 'clear' }) as const };
      const gates = openGates({ ...needs, state: '/d', items: null });
      gates.register('ada', gate('deploy', { description: 'old' }));
      let isKilled = false;
      files.mishaps((_, index) => {
        isKilled ||= index === at;
        return isKilled ? { is: 'fails', code: 'EIO' } : null;
      });
      try {
        gates.register('ada', gate('deploy', { description: 'new' }));
      } catch {
        // The process is gone; what it left is what counts.
      }
      files.mishaps(null);
      files.powerCut();
      const { standings, odd } = gates.list('ada');
      const found = standings.find((one) => one.gate.id === 'deploy');
      assert.deepEqual(odd, []);
      texts.add(found?.gate.description ?? 'gone');
      if (!isKilled) break;
    }
    assert.deepEqual([...texts].sort(), ['new', 'old']);
  });
});

test('a real kill while gates are written leaves whole files', async () => {
  using space = scratch();
  const script = `
    import { openGates } from ${JSON.stringify(import.meta.resolve('./gates.ts'))};
    import { realClock, realRandom, silentLog } from ${JSON.stringify(import.meta.resolve('../../ports/index.ts'))};
    import { realDisk } from ${JSON.stringify(import.meta.resolve('../../state/index.ts'))};
    const needs = { disk: realDisk(silentLog), random: realRandom, clock: realClock, items: null };
    const gates = openGates({ ...needs, state: process.argv[1], git: async () => ({ is: 'clear' }) });
    const gate = { id: 'deploy', hook: 'Stop', mode: 'strict', hint: null, check: null, ttlSeconds: null };
    for (let n = 0; ; n += 1) {
      gates.register('ada', { ...gate, description: String(n).repeat(200).slice(0, 900) });
      if (n === 20) process.stdout.write('going');
    }`;
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, space.dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { standings, odd } = rig(space).gates.list('ada');
    assert.deepEqual(odd, []);
    assert.match(standings.find((one) => one.gate.id === 'deploy')?.gate.description ?? '', /^\d{200,}$/);
  }
});

describe('marks', () => {
  test('inbox-gates 8.8: a mark of one persona satisfies no gate of another, with one terminal and one session id', async () => {
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
    assert.equal(all.gates.one('ada', 'decision')?.mark, null);
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
    const decided: DecisionGates = gatesForDecisions(all.gates);
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
    const marked = all.gates.list('ada').standings.filter((one) => one.mark !== null);
    assert.deepEqual(
      marked.map((one) => one.gate.id),
      ['decision', 'dirty-work'],
    );
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
    assert.deepEqual([item?.to, item?.type, item?.priority], [{ is: 'persona', name: 'ada' }, 'gate', 2]);
    assert.equal(item?.content, 'Gate commit-push resolved: it was marked');
    assert.match(item?.dedupKey ?? '', /^gate:commit-push:ada:/);
    all.gates.clear('ada', () => true);
    all.clock.stopFor(1000);
    mark(all, 'commit-push', 'cli');
    mark(all, 'commit-push', 'cli', 's1', 'bo');
    assert.equal(new Set(all.pushed.map((one) => one.dedupKey)).size, 3);
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
    assert.equal(all.gates.one('ada', 'commit-push')?.mark?.by, 'auto');
  });

  test('that can not be pushed leaves the gate satisfied', async () => {
    using space = scratch();
    const { clock } = rig(space);
    const said: string[] = [];
    const disk = realDisk({ ...silentLog, warn: (line) => said.push(line) });
    const git: LookAtGit = async () => ({ is: 'clear' });
    const items = () => assert.fail('locked');
    const gates = openGates({ disk, random: realRandom, clock, state: space.dir, git, items });
    gates.mark('ada', 'decision', { by: 'operator', session: null, terminal: null, tells: true });
    assert.match(said.join(), /ada was not told that it resolved: locked/);
    assert.equal((await check({ gates, space })).decision, 'allow');
  });
});

describe('a turn', () => {
  test('has three blocks at most, in its session alone, and the next prompt begins another', async () => {
    using space = scratch();
    const all = rig(space);
    const four = async (given: Partial<CheckRequest> = {}): Promise<readonly unknown[]> => {
      const verdicts: Verdict[] = [];
      for (let n = 0; n < 4; n += 1) verdicts.push(await check(all, given));
      return verdicts.map((one) => one.letGo ?? one.decision);
    };
    const bounded = ['block', 'block', 'block', 'blocked-enough'];
    assert.deepEqual(await four(), bounded);
    assert.deepEqual(await four({ session: 's2' }), bounded);
    assert.deepEqual(await four({ persona: 'bo' }), bounded);
    assert.equal((await check(all)).decision, 'allow');
    await check(all, { hook: 'UserPromptSubmit' });
    assert.deepEqual(await four(), bounded);
    all.gates.beginTurn('ada', 's1');
    assert.deepEqual(await four(), bounded);
    assert.equal((await check(rig(space))).decision, 'allow', 'as another process counts it');
  });

  test('inbox-gates 8.9: a second stop within 60 s of a block is examined and blocked', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('deploy'));
    assert.equal((await check(all)).decision, 'block');
    all.clock.stopFor(1000);
    const second = await check(all);
    assert.deepEqual([second.decision, failing(second).includes('deploy')], ['block', true]);
    const third = await check(all, { stopHookActive: true });
    assert.deepEqual([third.letGo, failing(third).includes('deploy')], ['nothing-changed', true]);
    mark(all, 'decision');
    assert.equal((await check(all, { stopHookActive: true })).reason, 'deploy: deploy is open');
  });

  test('what checks pass at a block is no change that would block the same stop again', async () => {
    using space = scratch();
    const all = rig(space);
    assert.equal((await check(all)).decision, 'block');
    assert.equal(all.gates.one('ada', 'commit-push')?.mark?.by, 'auto');
    assert.equal((await check(all, { stopHookActive: true })).letGo, 'nothing-changed');
  });

  test('that can not be counted does not block', async () => {
    using space = scratch();
    const all = rig(space);
    mkdirSync(space.at('gates', 'ada', 'turns', 's1.jsonl'), { recursive: true });
    const { decision, warnings } = await check(all);
    assert.equal(decision, 'allow');
    assert.match(warnings.join(), /could not be checked: .*s1\.jsonl/);
    assert.equal((await check(all, { session: 's2' })).decision, 'block');
  });

  test('torn or filled with what nobody wrote lets go sooner, not later', async () => {
    using space = scratch();
    const all = rig(space);
    await check(all);
    const path = space.at('gates', 'ada', 'turns', 's1.jsonl');
    assert.equal(modeOf(path), 0o600);
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"is":"blo`, { mode: 0o600 });
    assert.equal((await check(all)).decision, 'block');
    assert.equal((await check(all)).letGo, 'blocked-enough');
    writeFileSync(path, 'x'.repeat(100_000), { mode: 0o600 });
    assert.equal((await check(all)).letGo, 'blocked-enough');
    all.gates.beginTurn('ada', 's1');
    assert.equal((await check(all)).decision, 'block');
  });

  test('gives three blocks to many checks at the same moment in processes of their own', async () => {
    using space = scratch();
    const script = `
      import { openGates } from ${JSON.stringify(import.meta.resolve('./gates.ts'))};
      import { realClock, realRandom, silentLog } from ${JSON.stringify(import.meta.resolve('../../ports/index.ts'))};
      import { realDisk } from ${JSON.stringify(import.meta.resolve('../../state/index.ts'))};
      const needs = { disk: realDisk(silentLog), random: realRandom, clock: realClock, items: null };
      const gates = openGates({ ...needs, state: process.argv[1], git: async () => ({ is: 'clear' }) });
      const who = { persona: 'ada', session: 's1', terminal: null, hook: 'Stop', cwd: '/', env: {} };
      const flags = { stopHookActive: false, apiError: false, soft: false, also: '' };
      const verdicts = await Promise.all(Array.from({ length: 5 }, () => gates.check({ ...who, ...flags })));
      console.log(verdicts.filter(({ decision }) => decision === 'block').length);`;
    const run = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const args = ['--input-type=module', '-e', script, space.dir];
        execFile(process.execPath, args, (error, stdout) => (error ? reject(error) : resolve(Number(stdout))));
      });
    const blocks = await Promise.all(Array.from({ length: 4 }, run));
    assert.equal(
      blocks.reduce((sum, n) => sum + n, 0),
      3,
    );
  });

  test('whatever happens in it has no more than three blocks', async () => {
    const steps = fc.constantFrom('stop', 'again', 'tool', 'mark', 'clear', 'register', 'dirty', 'clean', 'wait');
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 25 }), async (acts) => {
        using space = scratch();
        const all = rig(space);
        let blocks = 0;
        const asked = async (given: Partial<CheckRequest>): Promise<void> => {
          const { decision, reason } = await check(all, given);
          if (decision === 'block') blocks += 1;
          assert.equal(reason !== '', decision === 'block');
        };
        for (const [n, act] of acts.entries()) {
          if (act === 'stop') await asked({});
          if (act === 'again') await asked({ stopHookActive: true });
          if (act === 'tool') await asked({ hook: 'PreToolUse' });
          if (act === 'mark') mark(all, 'decision');
          if (act === 'clear') all.gates.clear('ada', () => true);
          if (act === 'register') all.gates.register('ada', gate(`g${n}`, { check: 'commit-push' }));
          if (act === 'dirty') all.git = { is: 'open', detail: String(n) };
          if (act === 'clean') all.git = { is: 'clear' };
          if (act === 'wait') all.clock.stopFor(61_000);
        }
        assert.ok(blocks <= 3, `${blocks} blocks`);
      }),
      { numRuns: 60 },
    );
  });
});

test('whatever call of the disk fails, a check answers, and what it can not count it does not block', async () => {
  for (let at = 0, isOver = false; !isOver; at += 1) {
    const files = fakeFiles();
    const needs = { random: realRandom, clock: fakeClock(), git: async () => ({ is: 'clear' }) as const };
    const gates = openGates({ ...needs, disk: { files, log: silentLog, uid: UID }, state: '/d', items: null });
    const space = { dir: '/d' } as Scratch;
    let name = '';
    files.mishaps((call, index) => {
      if (index !== at) return null;
      name = call.name;
      return { is: 'fails', code: 'EIO' };
    });
    const { decision, warnings } = await check({ gates, space });
    isOver = name === '';
    const counted = (files.text('/d/gates/ada/turns/s1.jsonl') ?? '').includes('"is":"block"');
    if (decision === 'block') assert.ok(counted, `blocked without a count when call ${at}, ${name}, failed`);
    else assert.notDeepEqual(warnings, [], `${name} failed and nothing was said`);
  }
});

test('a directory that can not be read lets the session go', async () => {
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
  const who = { persona: 'ada', session: 's1', terminal: null, cwd: space.dir, env: { GT_HOOK_BEAD: 'b-1' } };
  const states = await all.gates.status(who);
  const satisfied = states.filter((one) => one.isSatisfied).map((one) => one.gate.id);
  assert.deepEqual([states.length, satisfied], [10, ['decision']]);
  assert.equal(readFileSync(all.file('decision'), 'utf8'), before);
  assert.deepEqual(readdirSync(space.at('gates', 'ada')), ['decision.json']);
});
