import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hookMachine } from '../kit/hook-call.ts';
import { programEntry } from '../kit/program.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

interface CommandRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in a folder that is removed before it starts. */
function runInRemovedFolder(
  home: TrayHome,
  args: readonly string[],
  { entry = 'hivebar', stdin = '', env = {} }: { entry?: 'hivebar' | 'hook'; stdin?: string; env?: object } = {},
): Promise<CommandRun> {
  const folder = join(home.home, 'worktree');
  mkdirSync(folder, { recursive: true });
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HIVEBAR|XDG|NODE|TMUX)_?/.test(name));
  const script = 'rmdir "$PWD" && exec "$@"';
  const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, programEntry(entry), ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), ...home.env, ...env } as NodeJS.ProcessEnv,
  });
  const ended = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ended.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    ended.stderr += text;
  });
  child.stdin.on('error', () => {}).end(stdin);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...ended }));
  });
}

const formatStop = (cwd: string | null): string =>
  JSON.stringify({
    session_id: 's1',
    hook_event_name: 'Stop',
    stop_hook_active: false,
    ...(cwd === null ? {} : { cwd }),
  });

describe('in a folder that was removed', () => {
  test('F3 given a removed current folder, the commands work as anywhere', async () => {
    using home = trayHome();
    const sent = await runInRemovedFolder(home, ['send', '--to', 'ada', '--from', 'me', 'hello']);
    assert.deepEqual([sent.code, sent.stdout], [0, 'sent 1 to ada\n'], sent.stderr);
    for (const [args, says] of [
      [['inbox', 'list', 'ada'], /hello/],
      [['session', 'set', 'ada', '--id', 's1'], /./],
      [['session', 'list'], /ada/],
      [['decision', 'create', '--as', 'ada', '--option', 'yes=Yes', 'Go on?'], /./],
      [['decision', 'list'], /Go on\?/],
      [['gate', 'list', '--persona', 'ada'], /decision/],
      [['garden', 'status'], null],
      [['config', 'path'], /config\.json/],
    ] as const) {
      const { code, stdout, stderr } = await runInRemovedFolder(home, args);
      assert.doesNotMatch(stderr, /fault of Hivebar|removed/, args.join(' '));
      if (says !== null) {
        assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
        assert.match(stdout, says);
      }
    }
    const status = await runInRemovedFolder(home, ['status']);
    assert.match(status.stderr, /hivebar is not running/);
  });

  test('F3 given a relative path in a removed folder, it is said and is no fault of Hivebar', async () => {
    using home = trayHome();
    for (const [args, env] of [
      [['inbox', 'list', 'ada'], { HIVEBAR_HOME: 'here' }],
      [['watch', '--persona', 'ada', '--events-file', 'events.ndjson'], {}],
    ] as const) {
      const { code, stderr } = await runInRemovedFolder(home, args, { env });
      assert.ok(code === 1 || code === 2, stderr);
      assert.match(stderr, /the current folder was removed/);
      assert.doesNotMatch(stderr, /fault of Hivebar/);
    }
  });

  test('F3 given a removed folder, the hook injects, and the strict gate of a decision holds the stop', async () => {
    using home = trayHome();
    const env = { HIVEBAR_PERSONA: 'ada' };
    const sent = await runInRemovedFolder(home, ['send', '--to', 'ada', '--from', 'me', 'please look']);
    assert.equal(sent.code, 0, sent.stderr);
    const prompt = JSON.stringify({ session_id: 's1', hook_event_name: 'UserPromptSubmit', prompt: 'go' });
    const args = (event: string): string[] => ['hook', '--harness', 'claude', '--event', event];
    const reported = await runInRemovedFolder(home, args('UserPromptSubmit'), { entry: 'hook', stdin: prompt, env });
    assert.equal(reported.code, 0);
    assert.match(reported.stdout, /please look/, reported.stderr);
    await runInRemovedFolder(home, ['decision', 'create', '--as', 'ada', '--option', 'yes=Yes', 'Merge it?']);
    const held = await runInRemovedFolder(home, args('Stop'), { entry: 'hook', stdin: formatStop(null), env });
    assert.match(held.stdout, /"decision":\s*"block"/, held.stderr);
    assert.match(held.stdout, /Merge it\?/);
  });
});

describe('a gate that cannot decide', () => {
  test('F3 given a store that cannot be read, the stop is held once and told why', async () => {
    using m = hookMachine();
    await m.hook('SessionStart', {}, { persona: 'ada' });
    // A damaged file would be repaired; this cannot be opened by anybody.
    for (const end of ['', '-wal', '-shm']) rmSync(m.home.at(`hivebar.sqlite${end}`), { force: true });
    mkdirSync(m.home.at('hivebar.sqlite'));
    const stop = { stop_hook_active: false };
    const held = await m.hook('Stop', stop, { persona: 'ada' });
    assert.equal(held.code, 0);
    assert.match(held.stdout, /"decision":\s*"block"/, held.stderr);
    assert.match(held.stdout, /gates could not be checked: .*hivebar\.sqlite/);
    // The second one is let go, and so is whoever says nothing of the first: nothing could count these.
    for (const given of [{ stop_hook_active: true }, {}]) {
      const { code, stdout } = await m.hook('Stop', given, { persona: 'ada' });
      assert.deepEqual([code, stdout], [0, '']);
    }
    // Who is nobody is held by nobody.
    assert.equal((await m.hook('Stop', stop)).stdout, '');
  });

  test('F3 given gates that cannot be read, the stop is held once', async () => {
    using m = hookMachine();
    await m.hook('SessionStart', {}, { persona: 'ada' });
    mkdirSync(m.home.at('gates'), { recursive: true, mode: 0o700 });
    writeFileSync(m.home.at('gates', 'ada'), 'a file where a folder belongs');
    const held = await m.hook('Stop', { stop_hook_active: false }, { persona: 'ada' });
    assert.match(held.stdout, /gates could not be checked/, held.stderr);
    assert.equal(
      (await m.hook('Stop', { stop_hook_active: true }, { persona: 'ada' })).stdout.includes('block'),
      false,
    );
  });
});
