import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { fakeClock } from '../../../test/kit/fake-clock.ts';
import { fakeFiles, UID } from '../../../test/kit/fake-files.ts';
import { check, failing, GATES_OF_ARGUMENT, gate, mark, rig } from '../../../test/kit/gates-rig.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { realRandom, silentLog } from '../../ports/index.ts';
import { NO_OPEN_DECISIONS } from './gate.ts';
import { openGates } from './gates.ts';

const readMode = (path: string): number => statSync(path).mode & 0o777;

describe('files', () => {
  test('a fresh persona has the built-ins and no file', async () => {
    using space = scratch();
    const all = rig(space);
    const { decision, reason, results } = await check(all);
    assert.equal(decision, 'block');
    assert.match(reason, /^decision: /);
    assert.deepEqual(
      results.map((result) => result.gate_id),
      ['decision', 'commit-push', 'bead-update', 'mol-gate-pending'],
    );
    assert.equal(all.gates.list('bo').gateStates.length, 11);
    assert.ok(!space.list().includes('bo'));
  });

  test('a gate that was registered is there for whoever opens the gates next, private and whole', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('deploy', { hint: 'run it', ttlSeconds: 60 }));
    assert.deepEqual([readMode(all.file('deploy')), readMode(dirname(all.file('deploy')))], [0o600, 0o700]);
    assert.deepEqual(JSON.parse(readFileSync(all.file('deploy'), 'utf8')), {
      registered: true,
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
    assert.equal(all.gates.find('ada', 'deploy')?.gate.description, 'other');
    assert.equal((await check(all, { persona: 'bo' })).decision, 'block');
  });

  test('registering with another check forgets what the first one found', async () => {
    using space = scratch();
    const all = rig(space);
    all.gates.register('ada', gate('tidy', { check: 'commit-push' }));
    all.gates.register('ada', gate('decision', { mode: 'soft' }));
    assert.equal((await check(all)).decision, 'allow');
    assert.equal(all.gates.find('ada', 'tidy')?.mark?.by, 'auto');
    all.gates.register('ada', gate('tidy'));
    assert.equal((await check(all)).reason, 'tidy: tidy is open');
  });

  test('an id that is no file name everywhere, an empty description and an odd time to live are refused', () => {
    using space = scratch();
    const { gates } = rig(space);
    for (const id of ['', '.x', '-x', '../x', 'a/b', 'Deploy', 'con', 'nul.txt', 'x.', 'é', 'x'.repeat(65)]) {
      assert.throws(() => gates.register('ada', gate(id)), { code: 'usage', message: /is not a gate id/ }, id);
    }
    assert.throws(() => gates.register('ada', gate('x', { description: ' ' })), /description is empty/);
    assert.throws(() => gates.register('ada', gate('x', { ttlSeconds: 0.5 })), /ttl 0.5/);
    assert.throws(() => gates.register('ada', gate('x', { hint: ' ' })), /hint is empty/);
    assert.throws(() => gates.register('ada', gate('decision-waiting')), /is set by decisions/);
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
    const output = [...Object.keys(odd), 'link', 'directory'];
    for (const id of output)
      assert.ok(
        warnings.some((line) => line.startsWith(`${all.file(id)} is not a gate`)),
        id,
      );
    assert.equal(warnings.length, output.length + 1); // and the soft decision
    assert.equal(all.gates.find('ada', 'torn'), null);
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
      const gates = openGates({ ...needs, state: '/d', items: null, findOpenDecisions: NO_OPEN_DECISIONS });
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
      const { gateStates: standings, odd } = gates.list('ada');
      const found = standings.find((state) => state.gate.id === 'deploy');
      assert.deepEqual(odd, []);
      texts.add(found?.gate.description ?? 'gone');
      if (!isKilled) break;
    }
    assert.deepEqual([...texts].sort(), ['new', 'old']);
  });
});

test('what a kill left beside the gates goes with the next look, once no writer can own it', async () => {
  using space = scratch();
  const all = rig(space);
  const script = `${GATES_OF_ARGUMENT.replace(
    'disk: createRealDisk(silentLog)',
    "disk: { ...createRealDisk(silentLog), files: { ...createRealDisk(silentLog).files, rename: () => process.kill(process.pid, 'SIGKILL') } }",
  )}
    const gate = { id: 'deploy', hook: 'Stop', mode: 'strict', hint: null, check: null, matcher: null, ttlSeconds: null };
    gates.register('ada', { ...gate, description: 'killed' });`;
  const killed = async (): Promise<string> => {
    const before = existsSync(space.at('gates', 'ada')) ? readdirSync(space.at('gates', 'ada')) : [];
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, space.dir], { stdio: 'inherit' });
    const [, signal]: readonly unknown[] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL');
    const [left, ...more] = readdirSync(space.at('gates', 'ada')).filter((name) => !before.includes(name));
    assert.deepEqual(more, []);
    return left ?? assert.fail('nothing was left');
  };
  const [old, fresh] = [await killed(), await killed()];
  const at = all.clock.now() / 1000;
  utimesSync(space.at('gates', 'ada', old), at - 600, at - 600);
  utimesSync(space.at('gates', 'ada', fresh), at - 599, at - 599);
  mark(all, 'dirty-work');
  const { gateStates: standings, odd } = all.gates.list('ada');
  assert.deepEqual([standings.some(({ gate: { id } }) => id === 'deploy'), odd], [false, []]);
  assert.deepEqual(readdirSync(space.at('gates', 'ada')).sort(), [fresh, 'dirty-work.json'].sort());
});

test('a real kill while gates are written leaves whole files', async () => {
  using space = scratch();
  const script = `${GATES_OF_ARGUMENT}
    const gate = { id: 'deploy', hook: 'Stop', mode: 'strict', hint: null, check: null, matcher: null, ttlSeconds: null };
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
    const { gateStates: standings, odd } = rig(space).gates.list('ada');
    assert.deepEqual(odd, []);
    assert.match(standings.find((state) => state.gate.id === 'deploy')?.gate.description ?? '', /^\d{200,}$/);
  }
});
