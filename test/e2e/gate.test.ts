import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { runCli } from '../kit/process.ts';
import { type Scratch, scratch } from '../kit/scratch.ts';

interface GateCheckJson {
  readonly decision: string;
  readonly reason: string;
  readonly results: readonly { readonly gate_id: string; readonly satisfied: boolean; readonly mode: string }[];
  readonly warnings: readonly string[];
  readonly let_go: string | null;
}

/** `hivebar gate ...` with a home of its own, as ada in session s1 unless `env` says otherwise. */
async function gate(space: Scratch, line: string | readonly string[], env: Readonly<Record<string, string>> = {}) {
  const args = typeof line === 'string' ? line.split(' ') : line;
  const caller = { HIVEBAR_PERSONA: 'ada', HIVEBAR_SESSION: 's1' };
  return await runCli(['gate', ...args], {
    env: { HIVEBAR_HOME: space.at('home'), ...caller, ...env },
    cwd: space.dir,
  });
}

async function checked(space: Scratch, line: string, env?: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await gate(space, `${line} --json`, env);
  return { code, stderr, verdict: JSON.parse(stdout) as GateCheckJson };
}

async function good(space: Scratch, line: string | readonly string[], env?: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await gate(space, line, env);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout;
}

const register = (id: string, ...more: readonly string[]): readonly string[] => [
  ...['register', id, '--hook', 'stop', '--mode', 'strict', '--description', `${id} first`],
  ...more,
];

/** The gate `decision`, for every stop. */
const DECISION = ['register', 'decision', '--hook', 'Stop', '--mode', 'strict', '--description', 'ask first'];

async function mail(space: Scratch, persona: string): Promise<readonly string[]> {
  const env = { HIVEBAR_HOME: space.at('home') };
  const { stdout } = await runCli(['inbox', 'list', persona, '--json'], { env });
  return (JSON.parse(stdout) as readonly { content: string }[]).map(({ content }) => content);
}

describe('hivebar gate', () => {
  test('holds nobody who asked nothing and registered nothing; list and status say when it does', async () => {
    using space = scratch();
    for (let n = 0; n < 2; n += 1) {
      const { code, verdict } = await checked(space, 'check --hook Stop');
      assert.deepEqual([code, verdict.decision, verdict.reason], [0, 'allow', '']);
    }
    const when = /^Stop +strict +decision .*\[built in, while a decision of the persona is open; at every stop once/m;
    assert.match(await good(space, 'list'), when);
    assert.match(await good(space, 'list', { HIVEBAR_PERSONA: '' }), when);
    assert.match(
      await good(space, 'status'),
      /^inactive +Stop +strict +decision +no decision of the persona is open$/m,
    );
    const env = { HIVEBAR_HOME: space.at('home') };
    const ask = ['decision', 'create', '--as', 'ada', '--option', 'y=Yes', 'Deploy?'];
    assert.equal((await runCli(ask, { env })).code, 0);
    const blocked = await gate(space, 'check --hook Stop');
    assert.equal(blocked.code, 1);
    assert.match(
      blocked.stdout,
      /^block: decision: decision 1 \("Deploy\?"\) is not answered \(hivebar decision wait 1\)$/m,
    );
    assert.match(
      await good(space, 'status'),
      /^open +Stop +strict +decision +decision 1 \("Deploy\?"\) is not answered/m,
    );
    assert.equal((await checked(space, 'check --hook Stop', { HIVEBAR_PERSONA: 'bo' })).code, 0);
    assert.equal((await runCli(['decision', 'respond', '1', '--select', 'y'], { env })).code, 0);
    for (let n = 0; n < 2; n += 1) assert.equal((await checked(space, 'check --hook Stop')).code, 0);
  });

  test('a registered decision gate blocks with 1 and the reason, and allows with 0 once the operator marked it, for one stop', async () => {
    using space = scratch();
    assert.equal((await checked(space, 'check --hook STOP')).code, 0);
    await good(space, DECISION);
    const [decision] = JSON.parse(await good(space, 'list --json')) as readonly Record<string, unknown>[];
    assert.deepEqual(
      [decision?.check, decision?.ttl, decision?.built_in, decision?.when],
      ['decision-waiting', 86_400, false, 'always'],
    );
    const blocked = await checked(space, 'check --hook STOP');
    assert.deepEqual([blocked.code, blocked.verdict.decision], [1, 'block']);
    assert.match(blocked.verdict.reason, /^decision: ask first \(hivebar decision create, /);
    assert.deepEqual(blocked.verdict.results[0]?.gate_id, 'decision');

    const refused = await gate(space, 'mark decision');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /--force/);
    await good(space, 'mark decision --force');
    const record = JSON.parse(space.text('home/gates/ada/decision.json')) as Record<string, unknown>;
    assert.equal(record.satisfied_by, 'operator');

    const plain = await gate(space, 'session-check --hook Stop');
    assert.deepEqual([plain.code, plain.stdout], [0, 'allow\n']);
    const again = await gate(space, 'check --hook Stop');
    assert.equal(again.code, 1);
    assert.match(again.stdout, /^block: decision: /);
    assert.equal((await gate(space, 'check --hook Stop --soft')).code, 0);
  });

  test('seed 22: a gate that one process registered blocks in the next, and its resolving comes to the inbox once', async () => {
    using space = scratch();
    await good(space, 'register decision --hook Stop --mode soft --description ask'.split(' '));
    await good(space, register('tests', '--hint', 'run them', '--ttl', '1h'));
    const { code, verdict } = await checked(space, 'check --hook Stop');
    assert.deepEqual([code, verdict.reason], [1, 'tests: tests first (run them)']);
    assert.deepEqual(verdict.warnings, ['decision: ask (hivebar decision create, then hivebar decision wait)']);
    await good(space, 'mark tests');
    await good(space, 'mark tests');
    assert.equal((await checked(space, 'check --hook Stop')).code, 0);
    assert.deepEqual(await mail(space, 'ada'), ['Gate tests resolved: it was marked']);
    assert.equal(await good(space, 'clear tests'), 'ada: tests cleared\n');
    assert.equal((await checked(space, 'check --hook Stop')).code, 1);
  });

  test('inbox-gates 8.8a: what ada marks opens nothing for bo', async () => {
    using space = scratch();
    await good(space, DECISION);
    await good(space, DECISION, { HIVEBAR_PERSONA: 'bo' });
    await good(space, 'mark decision --force');
    assert.equal((await checked(space, 'check --hook Stop', { HIVEBAR_PERSONA: 'bo' })).code, 1);
    assert.equal((await checked(space, 'check --hook Stop', { HIVEBAR_SESSION: 's2' })).code, 1);
    assert.equal((await checked(space, 'check --hook Stop')).code, 0);
  });

  test('inbox-gates 8.9a: stopping again at once is examined; three blocks a turn, and the next prompt begins another', async () => {
    using space = scratch();
    await good(space, DECISION);
    const stop = async (flags = '') => {
      const { code, verdict } = await checked(space, `check --hook Stop${flags}`);
      return [code, verdict.let_go, verdict.results[0]?.satisfied];
    };
    assert.deepEqual(await stop(), [1, null, false]);
    assert.deepEqual(await stop(' --stop-hook-active'), [0, 'nothing-changed', false]);
    assert.deepEqual(await stop(' --api-error'), [0, 'api-error', false]);
    assert.deepEqual(await stop(), [1, null, false]);
    assert.deepEqual(await stop(), [1, null, false]);
    assert.deepEqual(await stop(), [0, 'blocked-enough', false]);
    assert.equal((await checked(space, 'check --hook UserPromptSubmit')).code, 0);
    assert.deepEqual(await stop(), [1, null, false]);
  });

  test('commit-push looks at the repository of the folder', async () => {
    using space = scratch();
    await good(space, 'register decision --hook Stop --mode soft --description ask'.split(' '));
    await good(space, register('commit-push', '--check', 'commit-push'));
    assert.equal((await checked(space, 'check --hook Stop')).code, 0, 'no repository');
    execFileSync('git', ['init', '-q'], { cwd: space.dir });
    writeFileSync(space.at('.gitignore'), 'home\n');
    const { code, verdict } = await checked(space, 'check --hook Stop');
    assert.deepEqual([code, verdict.reason], [1, 'commit-push: commit-push first']);
    writeFileSync(space.at('.git', 'info', 'exclude'), 'home\n.gitignore\n');
    assert.equal((await checked(space, 'check --hook Stop')).code, 0);
    assert.deepEqual(await mail(space, 'ada'), ['Gate commit-push resolved: its check passed']);
    const status = await good(space, 'status --hook Stop');
    assert.match(status, /^satisfied {2}Stop +strict {2}commit-push {2}by auto, /m);
    assert.match(status, /^open +Stop +soft +decision {2}ask \(/m);
  });

  test('list has the gates, status how they stand, as text and as JSON', async () => {
    using space = scratch();
    await good(space, register('tests', '--ttl', '90'));
    const listed = JSON.parse(await good(space, 'session-list --json')) as readonly Record<string, unknown>[];
    assert.equal(listed.length, 12);
    assert.deepEqual(listed.at(-1), {
      gate_id: 'tests',
      hook: 'Stop',
      mode: 'strict',
      description: 'tests first',
      hint: null,
      check: null,
      tool: null,
      command: null,
      ttl: 90,
      built_in: false,
      when: 'always',
    });
    await good(space, 'mark tests');
    const [, , , , tests] = JSON.parse(await good(space, 'status --hook Stop --json')) as readonly Record<
      string,
      unknown
    >[];
    assert.deepEqual([tests?.satisfied, tests?.satisfied_by, tests?.session], [true, 'cli', 's1']);
    assert.match(await good(space, 'list --hook Stop'), /^Stop +strict {2}tests {2}tests first \[registered, 90 s\]$/m);
    mkdirSync(space.at('home', 'gates', 'ada', 'x.json'));
    assert.match((await gate(space, 'list')).stderr, /x\.json is not a gate/);
  });

  test('without a persona or a session everything is allowed, and nothing can be marked', async () => {
    using space = scratch();
    for (const env of [{ HIVEBAR_PERSONA: '' }, { HIVEBAR_SESSION: '' }]) {
      const { code, verdict, stderr } = await checked(space, 'check --hook Stop', env);
      assert.deepEqual([code, verdict.decision, verdict.results], [0, 'allow', []]);
      assert.match(stderr, /^hivebar gate: not checked: no (persona|session) is known here\n$/);
    }
    const nobody = { HIVEBAR_PERSONA: '', HIVEBAR_SESSION: '' };
    const { code, stderr } = await gate(space, 'mark tests', nobody);
    assert.equal(code, 2);
    assert.match(stderr, /--persona/);
    assert.match(await good(space, 'list', nobody), /commit-push/);
  });

  test('a session that was announced in the folder is the one that is meant', async () => {
    using space = scratch();
    const nobody = { HIVEBAR_PERSONA: '', HIVEBAR_SESSION: '' };
    const env = { HIVEBAR_HOME: space.at('home'), ...nobody };
    const set = ['session', 'set', 'cy', '--id', 'c1', '--pid', `${process.pid}`];
    assert.equal((await runCli(set, { env, cwd: space.dir })).code, 0);
    await good(space, DECISION, nobody);
    assert.equal((await checked(space, 'check --hook Stop', nobody)).code, 1);
    await good(space, 'mark decision --force', nobody);
    const record = JSON.parse(space.text('home/gates/cy/decision.json')) as Record<string, unknown>;
    assert.equal(record.session, 'c1');
    assert.equal((await checked(space, 'check --hook Stop --session c1', nobody)).code, 0);
  });

  test('a state directory that cannot be used allows, with a line on stderr', async () => {
    using space = scratch();
    space.write('home', 'a file');
    const { code, verdict, stderr } = await checked(space, 'check --hook Stop');
    assert.deepEqual([code, verdict.decision], [0, 'allow']);
    assert.notEqual(stderr, '');
  });

  test('a bad command line ends with 2 and says what to give', async () => {
    using space = scratch();
    const lines: readonly (readonly [string, RegExp])[] = [
      ['open', /expected register, remove, mark, clear, list, status or check, not open/],
      ['check', /--hook is missing: use Stop/],
      ['check --hook Nope', /--hook Nope: must be Stop/],
      ['check x --hook Stop', /unexpected argument x/],
      ['mark', /gate mark: ID is missing/],
      ['mark tests --json', /unknown flag --json/],
      ['register tests --hook Stop --mode hard --description d', /--mode hard: must be strict or soft/],
      ['register tests --hook Stop --mode soft', /--description/],
      ['register ../x --hook Stop --mode soft --description d', /is not a gate id/],
      ['register tests --hook Stop --mode soft --description d --ttl soon', /--ttl soon/],
      ['register tests --hook Stop --mode soft --description d --check rm', /--check rm/],
    ];
    for (const [line, words] of lines) {
      const { code, stderr } = await gate(space, line);
      assert.equal(code, 2, line);
      assert.match(stderr, words);
    }
    const unknown = await gate(space, 'mark tests');
    assert.deepEqual([unknown.code, /ada has no gate tests/.test(unknown.stderr)], [1, true]);
  });
});
