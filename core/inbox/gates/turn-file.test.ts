import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { check, failing, GATES_OF_ARGUMENT, gate, mark, ONE_QUESTION, rig } from '../../../test/kit/gates-rig.ts';
import { type Scratch, scratch } from '../../../test/kit/scratch.ts';
import { O, realRandom, silentLog } from '../../ports/index.ts';
import { createRealDisk } from '../../state/index.ts';
import type { GateVerdict } from './evaluate.ts';
import { type CheckRequest, openGates } from './gates.ts';
import { createTurnFile } from './turn-file.ts';

describe('the file of a turn', () => {
  test('gives three blocks to whoever claims first, also to those who saw none given', () => {
    using space = scratch();
    const file = () => createTurnFile(createRealDisk(silentLog), space.dir, 's1', fakeClock());
    const both = [file(), file()] as const;
    const claimed = [0, 1, 2, 3, 4].map((n) => both[n % 2 === 0 ? 0 : 1].claim('print', `nonce ${n}`));
    assert.deepEqual(claimed, [true, true, true, false, false]);
    file().tell(['a']);
    assert.deepEqual(file().read(), { blocks: new Array<string>(5).fill('print'), open: ['a'] });
    file().begin();
    assert.deepEqual(file().read(), { blocks: [], open: ['a'] });
    assert.equal(file().claim('print', 'again'), true);
    file().remove();
    file().remove();
    assert.deepEqual(file().read(), { blocks: [], open: [] });
  });

  test('counts a torn line as a block, and what comes after it is whole', () => {
    using space = scratch();
    const file = createTurnFile(createRealDisk(silentLog), space.dir, 's1', fakeClock());
    file.claim('one', '1');
    const path = space.at('turns', 's1.jsonl');
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"is":"blo`, { mode: 0o600 });
    assert.deepEqual(file.read().blocks, ['one', '']);
    assert.equal(file.claim('two', '2'), true);
    assert.equal(file.claim('three', '3'), false);
  });

  test('gives three blocks to processes that claim as fast as they can', async () => {
    using space = scratch();
    const script = `
      import { createTurnFile } from ${JSON.stringify(import.meta.resolve('./turn-file.ts'))};
      import { realClock, silentLog } from ${JSON.stringify(import.meta.resolve('../../ports/index.ts'))};
      import { createRealDisk } from ${JSON.stringify(import.meta.resolve('../../state/index.ts'))};
      const file = createTurnFile(createRealDisk(silentLog), process.argv[1], 's1', realClock);
      const claims = Array.from({ length: 40 }, (_, n) => file.claim('print', process.pid + '-' + n));
      console.log(claims.filter(Boolean).length);`;
    const given = await Promise.all([1, 2, 3, 4].map(() => runs(script, space.dir)));
    assert.deepEqual(
      given.reduce((sum, n) => sum + n, 0),
      3,
    );
  });
});

/** What a program that runs on its own prints, a number. */
function runs(script: string, dir: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = ['--input-type=module', '-e', script, dir];
    execFile(process.execPath, args, (error, stdout) => (error ? reject(error) : resolve(Number(stdout))));
  });
}

describe('a turn', () => {
  test('inbox-gates 8.9b: has three blocks at most, in its session alone, and the next prompt begins another', async () => {
    using space = scratch();
    const all = rig(space);
    const four = async (given: Partial<CheckRequest> = {}): Promise<readonly unknown[]> => {
      const verdicts: GateVerdict[] = [];
      for (let n = 0; n < 4; n += 1) verdicts.push(await check(all, given));
      return verdicts.map((verdict) => verdict.letGo ?? verdict.decision);
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

  test('inbox-gates 8.9a: a second stop within 60 s of a block is examined and blocked', async () => {
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
    assert.equal(all.gates.find('ada', 'commit-push')?.mark?.by, 'auto');
    assert.equal((await check(all, { stopHookActive: true })).letGo, 'nothing-changed');
  });

  test('that cannot be counted does not block', async () => {
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
    assert.equal(statSync(path).mode & 0o777, 0o600);
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
    const script = `${GATES_OF_ARGUMENT}
      const who = { persona: 'ada', session: 's1', terminal: null, hook: 'Stop', cwd: '/', env: {} };
      const flags = { stopHookActive: false, apiError: false, soft: false, also: '', call: null, by: 'command' };
      const verdicts = await Promise.all(Array.from({ length: 5 }, () => gates.check({ ...who, ...flags })));
      console.log(verdicts.filter(({ decision }) => decision === 'block').length);`;
    const blocks = await Promise.all([1, 2, 3, 4].map(() => runs(script, space.dir)));
    assert.equal(
      blocks.reduce((sum, n) => sum + n, 0),
      3,
    );
  });

  test('whose last block others took between a look and the claim lets go', async () => {
    using space = scratch();
    const disk = createRealDisk(silentLog);
    const others = createTurnFile(disk, space.at('gates', 'ada'), 's1', fakeClock());
    let accepted = 0;
    const open: typeof disk.files.open = (path, flags, mode) => {
      if (path.endsWith('s1.jsonl') && (flags & O.APPEND) !== 0)
        for (; accepted < 3; accepted += 1) others.claim('theirs', `${accepted}`);
      return disk.files.open(path, flags, mode);
    };
    const late = { ...disk, files: { ...disk.files, open } };
    const needs = { random: realRandom, clock: fakeClock(), git: async () => ({ is: 'clear' }) as const, items: null };
    const { decision, reason, letGo } = await check({
      gates: openGates({ ...needs, disk: late, state: space.dir, findOpenDecisions: () => ONE_QUESTION }),
      space,
    });
    assert.deepEqual([accepted, decision, reason, letGo], [3, 'allow', '', 'blocked-enough']);
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
          // A call that was denied makes nothing go on by itself, and is denied as often as it is made.
          if (decision === 'block' && given.hook !== 'PreToolUse') blocks += 1;
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

test('whatever call of the disk fails, a check answers, and what it cannot count it does not block', async () => {
  for (let at = 0, isOver = false; !isOver; at += 1) {
    const files = fakeFiles();
    const needs = { random: realRandom, clock: fakeClock(), git: async () => ({ is: 'clear' }) as const };
    const gates = openGates({
      ...needs,
      disk: { files, log: silentLog, uid: UID },
      state: '/d',
      items: null,
      findOpenDecisions: () => ONE_QUESTION,
    });
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

test('turns of sessions that nobody ended go after a week, once there are many', async () => {
  using space = scratch();
  const all = rig(space);
  const saved = (): number => readdirSync(space.at('gates', 'ada', 'turns')).length;
  for (let n = 0; n < 110; n += 1) await check(all, { session: `old-${n}` });
  assert.equal(saved(), 110);
  all.clock.stopFor(6 * 86_400_000);
  await check(all, { session: 'old-0' });
  all.clock.stopFor(2 * 86_400_000);
  await check(all, { session: 'new' });
  assert.deepEqual(readdirSync(space.at('gates', 'ada', 'turns')).sort(), ['new.jsonl', 'old-0.jsonl']);
});
