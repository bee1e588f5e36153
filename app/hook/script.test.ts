import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { test } from 'node:test';
import { formatGate } from '../../core/inbox/gates/gate-files.ts';
import type { Gate, MarkProvenance } from '../../core/inbox/gates/index.ts';
import { toStem } from '../../core/state/index.ts';
import { type HookShell, hookShell, SHELLS } from '../../test/kit/hook-shell.ts';
import { formatScript } from './script.ts';

/** Without a PATH some shells look where programs mostly are. */
const NOWHERE = { PATH: '/nowhere' };
const passed = { code: 0, stdout: '', stderr: '' };
const SESSION = '{"session_id": "s"}';

function isAsked({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): boolean {
  assert.equal(stderr, '');
  return code === 2 && stdout.startsWith('ASKED hook --harness claude --event Stop') ? true : stdout.includes('ASKED');
}

for (const shell of SHELLS) {
  const name = shell.join(' ');
  const hook = (h: HookShell, persona = 'ada', event = 'Stop') => h.run(['claude', event, persona], { shell });

  test(`${name}: given no stamp, the program is asked, with harness, event, persona and stdin as they came`, () => {
    using h = hookShell();
    const input = '{"session_id":"s","prompt":"a\\\\b"}';
    const ran = h.run(['codex', 'PostToolUse', 'Ada Lovelace'], { shell, input });
    assert.equal(ran.code, 2);
    assert.match(
      ran.stdout,
      /^ASKED \S*entry o'f \$it\.cjs hook --harness codex --event PostToolUse --persona Ada Lovelace persona= /,
    );
    assert.ok(ran.stdout.endsWith(input));
    assert.equal(ran.stderr, '');
  });

  test(`C9 ${name}: a hook of Codex never believes HIVEBAR_PERSONA, which is that of the first agent of its server`, () => {
    using h = hookShell();
    h.stamp('ada');
    for (const given of [[], ['cy']]) {
      const ran = h.run(['codex', 'Stop', ...given], { shell, env: { HIVEBAR_PERSONA: 'ada' } });
      assert.match(
        ran.stdout,
        given.length === 0 ? /--event Stop persona=ada / : /--event Stop --persona cy persona=ada /,
      );
    }
    assert.equal(h.activity('ada'), '');
  });

  test(`C2 ${name}: while an agent asks its person for something the program is asked, which knows whose question it is`, () => {
    using h = hookShell();
    h.stamp('ada', { quiet: ['PostToolUse', 'Stop'] });
    mkdirSync(h.state.at('run/prompts/ada'), { recursive: true });
    assert.ok(isAsked(hook(h, 'ada', 'PostToolUse')));
    rmSync(h.state.at('run/prompts/ada'), { recursive: true });
    assert.deepEqual(hook(h, 'ada', 'PostToolUse'), passed);
  });

  test(`${name}: given a stamp that is quiet at this moment, nothing is started and the moment is noted`, () => {
    using h = hookShell();
    h.stamp('ada', { quiet: ['PostToolUse', 'Stop'] });
    assert.deepEqual(hook(h), passed);
    assert.equal(h.activity('ada'), 'Stop\n');
    assert.deepEqual(hook(h, 'ada', 'PostToolUse'), passed);
    assert.equal(h.activity('ada'), 'PostToolUse\n');
    assert.ok(isAsked(hook(h, 'ada', 'UserPromptSubmit')));
    assert.ok(isAsked(hook(h, 'ada', 'SessionStart')));
    assert.ok(isAsked(hook(h, 'ada', 'Sto')));
    assert.ok(isAsked(hook(h, 'ada', '')));
    assert.ok(isAsked(hook(h, 'ada', '*')));
  });

  test(`${name}: given no name, the stamp of the persona that announced the session of Claude Code counts, and the program finds the name itself`, () => {
    using h = hookShell();
    h.stamp('ada', { quiet: ['Stop'] });
    mkdirSync(h.state.at('run/owners'));
    const run = (harness = 'claude', event = 'Stop') =>
      h.run([harness, event], { shell, env: { CLAUDE_CODE_SESSION_ID: '1b-2c' } });
    assert.match(run().stdout, /^ASKED .* persona= /, 'nobody announced it');
    h.state.write('run/owners/1b-2c', 'ada\n');
    assert.deepEqual(run(), passed);
    assert.equal(h.activity('ada'), 'Stop\n');
    assert.match(run('claude', 'PostToolUse').stdout, /^ASKED .* persona= /);
    assert.match(run('qwen').stdout, /^ASKED .* persona= /);
    h.state.write('run/owners/1b-2c', 'ada');
    assert.match(run().stdout, /^ASKED .* persona= /, 'half a note');
    h.state.write('run/owners/1b-2c', 'bo\n');
    assert.match(run().stdout, /^ASKED .* persona= /, 'it is of somebody else by now');
  });

  test(`${name}: when Cursor runs a hook of Claude Code, nothing is started, said or noted; Claude Code in its terminal is itself`, () => {
    using h = hookShell();
    const run = (env: Record<string, string>, harness = 'claude') =>
      h.run([harness, 'Stop', 'ada'], { shell, env: { CURSOR_VERSION: '1.7.2', ...env }, input: SESSION });
    for (const stamp of [false, true]) {
      if (stamp) h.stamp('ada');
      assert.deepEqual(run({}), passed);
      assert.equal(h.activity('ada'), '');
    }
    assert.deepEqual(run({ CLAUDECODE: '1' }), passed);
    assert.equal(h.activity('ada'), 'Stop\n', 'as Claude Code');
    rmSync(h.state.at('run/pending/ada'));
    for (const env of [{ CLAUDECODE: '1' }, { CLAUDE_CODE_SESSION_ID: 's' }, { HIVEBAR_HOOK_PROBE: '1' }])
      assert.ok(isAsked(run(env)), JSON.stringify(env));
    assert.ok(isAsked(run({}, 'cursor')), 'its own hooks');
  });

  test(`${name}: when Copilot CLI runs a hook of Claude Code, nothing is started, said or noted; Claude Code in its tool is itself`, () => {
    using h = hookShell();
    const run = (env: Record<string, string>, harness = 'claude') =>
      h.run([harness, 'Stop', 'ada'], { shell, env, input: SESSION });
    const copilot = { COPILOT_CLI: '1', COPILOT_PROJECT_DIR: '/w' };
    for (const stamp of [false, true]) {
      if (stamp) h.stamp('ada');
      for (const env of [copilot, { COPILOT_CLI: '1' }, { ...copilot, CLAUDECODE: '1' }])
        assert.deepEqual(run(env), passed, JSON.stringify(env));
      assert.equal(h.activity('ada'), '');
    }
    rmSync(h.state.at('run/pending/ada'));
    for (const env of [
      { COPILOT_CLI: '1', CLAUDECODE: '1' },
      { ...copilot, HIVEBAR_HOOK_PROBE: '1' },
    ])
      assert.ok(isAsked(run(env)), JSON.stringify(env));
    assert.ok(isAsked(run(copilot, 'copilot')), 'its own hooks');
  });

  test(`${name}: a program that shows nothing with a prompt is quiet after a tool only when it is so at a prompt`, () => {
    using h = hookShell();
    h.stamp('ada', { quiet: ['PostToolUse'] });
    assert.deepEqual(h.run(['gemini', 'PostToolUse', 'ada'], { shell }), passed);
    for (const harness of ['copilot', 'cursor'])
      assert.ok(isAsked(h.run([harness, 'PostToolUse', 'ada'], { shell })), harness);
    h.stamp('ada', { quiet: ['PostToolUse', 'UserPromptSubmit'] });
    assert.deepEqual(h.run(['cursor', 'PostToolUse', 'ada'], { shell }), passed);
  });

  test(`${name}: the variable goes before what install was told; without either the program decides`, () => {
    using h = hookShell();
    h.stamp('ada');
    assert.deepEqual(h.run(['claude', 'Stop', 'bob'], { shell, env: { HIVEBAR_PERSONA: 'ada' } }), passed);
    assert.ok(isAsked(h.run(['claude', 'Stop', 'ada'], { shell, env: { HIVEBAR_PERSONA: 'bob' } })));
    assert.deepEqual(h.run(['claude', 'Stop'], { shell, env: { HIVEBAR_PERSONA: 'ada' } }), passed);
    assert.ok(isAsked(h.run(['claude', 'Stop'], { shell })));
    assert.ok(isAsked(h.run([], { shell })));
  });

  test(`${name}: given names that are no file names, each finds its own stamp and no other`, () => {
    using h = hookShell();
    const names = ['Ada', 'ada/../bob', 'Ädä', 'a b', '$(echo x)', "o'neil", '*', 'dot.', 'x~abcdef', '-n'];
    for (const persona of names) {
      assert.ok(isAsked(hook(h, persona)), persona);
      assert.equal(h.stamp(persona), 'written');
      assert.deepEqual(hook(h, persona), passed, persona);
      assert.equal(h.activity(toStem(persona)), 'Stop\n', persona);
    }
    assert.ok(isAsked(hook(h, 'ADA')));
    assert.ok(isAsked(hook(h, 'ad?')));
    assert.ok(isAsked(hook(h, '..')));
  });

  test(`${name}: given a stamp that is torn, foreign, of another form or a symlink to a folder, the program is asked`, () => {
    using h = hookShell();
    h.stamp('ada');
    const whole = h.state.text('run/pending/ada');
    for (let cut = 0; cut < whole.length - 1; cut += 5) {
      writeFileSync(h.state.at('run/pending/ada'), whole.slice(0, cut));
      assert.ok(isAsked(hook(h)), JSON.stringify(whole.slice(0, cut)));
    }
    for (const text of [whole.replace('1', '2'), whole.replace('ada', 'bob'), whole.replace('end', 'more\nend')]) {
      writeFileSync(h.state.at('run/pending/ada'), text);
      assert.ok(isAsked(hook(h)), text);
    }
    rmSync(h.state.at('run/pending/ada'));
    symlinkSync('/', h.state.at('run/pending/ada'));
    assert.ok(isAsked(hook(h)));
  });

  test(`${name}: given something that waits in a queue file, of the state or of a folder, the program is asked`, () => {
    using h = hookShell();
    mkdirSync(h.state.at('work of/.runtime/inject-queue'), { recursive: true });
    mkdirSync(h.state.at('cwd/.runtime/inject-queue'), { recursive: true });
    mkdirSync(h.state.at('project/.runtime/inject-queue'), { recursive: true });
    h.stamp('ada', { folders: [h.state.at('elsewhere'), h.state.at('work of')] });
    const env = { CLAUDE_PROJECT_DIR: h.state.at('project') };
    const run = () => h.run(['claude', 'Stop', 'ada'], { shell, env });
    assert.deepEqual(run(), passed);
    for (const folder of [
      'inject-queue',
      'work of/.runtime/inject-queue',
      'cwd/.runtime/inject-queue',
      'project/.runtime/inject-queue',
    ]) {
      for (const file of ['s 1.jsonl', 's.jsonl.draining']) {
        h.state.write(`${folder}/${file}`, '{}\n');
        assert.ok(isAsked(run()), `${folder}/${file}`);
        h.state.write(`${folder}/${file}`, '');
        assert.deepEqual(run(), passed);
      }
      h.state.write(`${folder}/s.jsonl.bad`, 'x');
      assert.deepEqual(run(), passed);
    }
  });

  test(`${name}: given gates that changed when the stamp was made or later, the program is asked`, () => {
    using h = hookShell();
    h.stamp('ada');
    const { mtimeMs } = statSync(h.state.at('run/pending/ada'));
    const at = (name: string, ms: number): void => utimesSync(h.state.at(name), ms / 1000, ms / 1000);
    mkdirSync(h.state.at('gates/ada'));
    for (const folder of ['gates/ada']) {
      for (const older of ['gates/ada']) at(older, mtimeMs - 5000);
      assert.deepEqual(hook(h), passed);
      at(folder, mtimeMs);
      assert.ok(isAsked(hook(h)), folder);
      at(folder, mtimeMs + 5000);
      assert.ok(isAsked(hook(h)), folder);
    }
  });

  test(`E4 ${name}: given a program that is gone or no program, it ends with 0 and says nothing`, () => {
    using h = hookShell();
    const hook = (target: HookShell) => target.run(['claude', 'Stop', 'ada'], { shell, env: NOWHERE });
    rmSync(h.state.at("entry o'f $it.cjs"));
    assert.deepEqual(hook(h), passed);
    h.state.write("entry o'f $it.cjs", '');
    writeFileSync(h.state.at('node'), '#!/no/such/interpreter\n');
    assert.equal(hook(h).code, 0);
    chmodSync(h.state.at('node'), 0o600);
    assert.deepEqual(hook(h), passed);
    rmSync(h.state.at('node'));
    assert.deepEqual(hook(h), passed);
  });

  test(`G9 ${name}: given a Node that is gone, one of the package is taken, then the one on PATH; given a program that is gone, hivebar on PATH`, () => {
    using h = hookShell({ otherNodes: ['/no/such/node', '@own'] });
    const runs = (env: Record<string, string> = {}) =>
      h.run(['claude', 'SessionStart', 'ada'], { shell, env, input: SESSION }).stdout;
    const program = (path: string, says: string): void => {
      mkdirSync(h.state.at('bin'), { recursive: true });
      h.state.write(path, `#!/bin/sh\necho "${says} $*"\n`);
      chmodSync(h.state.at(path), 0o700);
    };
    assert.match(runs(), /^ASKED \S*entry o'f \$it\.cjs hook --harness claude --event SessionStart/);
    rmSync(h.state.at('node'));
    for (const [version, isRun] of [
      ['20.20.2', false],
      ['24.14.1', false],
      ['24.15.0', true],
      ['26.0.0', true],
    ] as const) {
      program('bin/node', 'ON PATH');
      // As a Node of that version: what it is asked with -e it answers by the real one.
      const real = `'${process.execPath}' -e "Object.defineProperty(process.versions, 'node', { value: '${version}' }); $2"`;
      h.state.write('bin/node', `#!/bin/sh\nif [ "$1" = -e ]; then\n  exec ${real}\nfi\necho "ON PATH $*"\n`);
      const output = runs({ PATH: h.state.at('bin') });
      assert.match(output, isRun ? /^ON PATH / : /^\{"systemMessage":/, version);
    }
    program('bin/node', 'ON PATH');
    program('bin/hivebar', 'HIVEBAR');
    const PATH = h.state.at('bin');
    assert.match(runs({ PATH }), /^ON PATH \S*entry o'f \$it\.cjs hook --harness claude --event SessionStart\n$/);
    program("own n'ode", 'OWN');
    assert.match(runs({ PATH }), /^OWN \S*entry o'f/);
    rmSync(h.state.at("entry o'f $it.cjs"));
    assert.match(runs({ PATH }), /^HIVEBAR hook --harness claude --event SessionStart\n$/);
  });

  test(`G9 ${name}: given nothing that could be asked, the person is told at the start of a session, and open strict gates hold`, () => {
    using h = hookShell();
    rmSync(h.state.at('node'));
    const asked = (event: string, given: Record<string, unknown> = {}, persona = 'ada') => {
      const { code, stdout, stderr } = h.run(['claude', event, persona], {
        shell,
        env: NOWHERE,
        input: JSON.stringify({ session_id: 's', ...given }),
      });
      assert.deepEqual([code, stderr], [0, '']);
      return stdout === '' ? null : JSON.parse(stdout);
    };
    assert.match(asked('SessionStart').systemMessage, /Node or Hivebar was moved or removed: run hivebar hook install/);
    for (const event of ['Stop', 'PreToolUse', 'UserPromptSubmit', 'PostToolUse'])
      assert.equal(asked(event), null, event);
    const put = (id: string, given: Partial<Gate>, by: MarkProvenance | null = null, name = 'ada'): void => {
      const plain = { hook: 'Stop', mode: 'strict', description: 'd', hint: null, check: null, matcher: null } as const;
      const mark = by === null ? null : { by, at: 0, session: null, terminal: null };
      const gate = { ...plain, id, ttlSeconds: null, ...given };
      mkdirSync(h.state.at('gates', toStem(name)), { recursive: true });
      h.state.write(`gates/${toStem(name)}/${id}.json`, formatGate({ gate, mark, isBuiltIn: false }));
    };
    put('soft', { mode: 'soft' });
    put('marked', {}, 'cli');
    assert.equal(asked('Stop'), null);
    put('tests', {});
    put('decision', {});
    const held = asked('Stop', { stop_hook_active: false });
    assert.equal(held.decision, 'block');
    assert.match(held.reason, /are open: decision tests\. Hivebar is not found/);
    const codex = h.run(['codex', 'Stop', 'ada'], { shell, env: NOWHERE, input: SESSION });
    assert.equal(JSON.parse(codex.stdout).decision, 'block');
    for (const event of ['SessionStart', 'Stop', 'UserPromptSubmit'])
      assert.equal(h.run(['opencode', event, 'ada'], { shell, env: NOWHERE, input: SESSION }).stdout, '', event);
    assert.equal(asked('Stop', { stop_hook_active: true }), null, 'once in a turn');
    assert.equal(asked('Stop', { agent_id: 'helper' }), null, 'not for a helper of the agent');
    assert.equal(asked('Stop', {}, 'local-ada').decision, 'block');
    assert.equal(asked('Stop', {}, 'bob'), null);
    put('push', { hook: 'PreToolUse', matcher: { tool: 'Bash', command: 'git push' } });
    const { hookSpecificOutput } = asked('PreToolUse', { tool_name: 'Bash', tool_input: {} });
    assert.equal(hookSpecificOutput.permissionDecision, 'deny');
    assert.match(hookSpecificOutput.permissionDecisionReason, /are open: push\./);
    assert.equal(asked('PreToolUse', { tool_name: 'Read', tool_input: {} }), null);
    put('push', { hook: 'PreToolUse', matcher: { tool: 'Edit|Wr*', command: null } });
    assert.ok(asked('PreToolUse', { tool_name: 'Read', tool_input: {} }) !== null, 'patterns are not judged here');
    for (const foreign of [{ session_id: undefined, sessionId: 's' }, { cursor_version: '1.7.2' }])
      for (const event of ['SessionStart', 'Stop', 'UserPromptSubmit', 'PreToolUse'])
        assert.equal(asked(event, { tool_name: 'Bash', ...foreign }), null, `nothing for another program: ${event}`);
    put('tests', {}, null, 'Ada B');
    h.stamp('Ada B', { quiet: ['PostToolUse'] });
    assert.equal(asked('Stop', {}, 'Ada B').decision, 'block');
  });

  test(`${name}: given no state directory any more, or no folder to note the moment in, it fails in no way`, () => {
    using h = hookShell();
    h.stamp('ada');
    rmSync(h.state.at('run/activity'), { recursive: true });
    assert.deepEqual(hook(h), passed);
    rmSync(h.state.at('run'), { recursive: true });
    assert.ok(isAsked(hook(h)));
  });

  test(`${name}: given another HIVEBAR_HOME than at install, the program is asked; given none, it is told`, () => {
    using plain = hookShell();
    plain.stamp('ada');
    const lead = (h: HookShell, env: Record<string, string>) => h.run(['claude', 'Stop', 'ada'], { shell, env });
    using other = hookShell({ leads: { HIVEBAR_HOME: "/ho'me" } });
    assert.match(lead(other, {}).stdout, /home=\/ho'me\n/);
    other.stamp('ada');
    assert.deepEqual(lead(other, {}), passed);
    assert.deepEqual(lead(other, { HIVEBAR_HOME: "/ho'me" }), passed);
    assert.match(lead(other, { HIVEBAR_HOME: '/else' }).stdout, /home=\/else\n/);
  });
}

test('given a path that no line of a shell can hold, there is no script', () => {
  const facts = { node: '/n', otherNodes: [], entry: '/e', state: '/s', leads: {} };
  assert.throws(() => formatScript({ ...facts, node: '/n\n/e' }), RangeError);
  assert.throws(() => formatScript({ ...facts, leads: { HIVEBAR_HOME: 'a\0b' } }), RangeError);
});

/** Both ends of a pipe. */
function pipe(path: string): readonly [number, number] {
  execFileSync('mkfifo', [path]);
  const both = openSync(path, constants.O_RDWR); // so that neither end waits for the other
  const ends = [openSync(path, constants.O_RDONLY), openSync(path, constants.O_WRONLY)] as const;
  closeSync(both);
  return ends;
}

for (const shell of SHELLS) {
  test(`${shell.join(' ')}: what a harness writes to a hook with nothing to say is taken, however much and however late`, async () => {
    using h = hookShell();
    h.stamp('ada');
    const [file = h.script, ...rest] = [...shell, h.script, 'claude', 'Stop', 'ada'];
    for (const bytes of [300, 1_048_576]) {
      const [reads, writes] = pipe(h.state.at(`fifo-${bytes}`));
      const hook = spawn(file, rest, { env: {}, cwd: h.state.at('cwd'), stdio: [reads, 'pipe', 'pipe'] });
      closeSync(reads);
      const output: string[] = [];
      for (const stream of [hook.stdout, hook.stderr])
        stream?.setEncoding('utf8').on('data', (text) => output.push(text));
      // With its output closed: what is left behind holds nothing but stdin, and nobody waits for it.
      assert.deepEqual(await once(hook, 'close'), [0, null]);
      for (let wrote = 0; wrote < bytes; ) wrote += writeSync(writes, 'x'.repeat(bytes - wrote));
      closeSync(writes);
      assert.deepEqual(output, []);
    }
  });
}
