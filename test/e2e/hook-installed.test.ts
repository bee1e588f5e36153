import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WITHOUT_ROOT } from '../kit/permissions.ts';
import { runCli } from '../kit/process.ts';
import { programEntry } from '../kit/program.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** The installed hook over the real program, as a harness runs it: the command in its settings, by a shell. */
const local = (): TrayHome => trayHome({ primary: { is: 'local' } });

interface Settings {
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>>;
}

async function installed(home: TrayHome) {
  mkdirSync(home.at('claude'), { recursive: true });
  const env = { CLAUDE_CONFIG_DIR: home.at('claude') };
  const { code, stderr } = await home.run(['hook', 'install', '--harness', 'claude', '--persona', 'ada'], { env });
  assert.deepEqual([code, stderr], [0, '']);
  const { hooks } = JSON.parse(readFileSync(home.at('claude/settings.json'), 'utf8')) as Settings;
  return (event: string): string => {
    const command = hooks[event]?.[0]?.hooks[0]?.command ?? '';
    const input = JSON.stringify({ session_id: 's1', hook_event_name: event, cwd: home.dir, tool_name: 'Read' });
    const ran = spawnSync('/bin/sh', ['-c', command], {
      encoding: 'utf8',
      input,
      env: { HOME: home.home, XDG_CACHE_HOME: home.env.XDG_CACHE_HOME },
    });
    assert.deepEqual([ran.status, ran.stderr], [0, ''], event);
    return ran.stdout;
  };
}

test('C7 given a directory of settings that cannot be written, hook install says it with the file, and nothing is done', {
  skip: process.platform === 'win32',
}, async () => {
  using home = local();
  const path = home.at('claude/settings.json');
  mkdirSync(home.at('claude'), { recursive: true });
  const before = '{"model": "x"}';
  writeFileSync(path, before);
  chmodSync(home.at('claude'), 0o500);
  const env = { ...home.env, CLAUDE_CONFIG_DIR: home.at('claude') };
  const { code, stdout, stderr } = await runCli(['hook', 'install', '--harness', 'claude', '--persona', 'ada'], {
    env,
    wrap: WITHOUT_ROOT,
  });
  chmodSync(home.at('claude'), 0o700);
  assert.deepEqual([code, stdout], [1, '']);
  assert.ok(stderr.includes(`nothing was installed: ${path} cannot be written: `), stderr);
  assert.match(stderr, /permission/);
  assert.deepEqual([readFileSync(path, 'utf8'), readdirSync(home.at('claude'))], [before, ['settings.json']]);
  assert.equal(existsSync(home.at('hook')), false, 'no script that nobody runs');
});

test('nothing waits: asked once, then passed over without the program; what is pushed is told by the next hook', async () => {
  using home = local();
  const hook = await installed(home);
  const script = home.at('hook/hivebar-hook');
  assert.equal(hook('PostToolUse'), '');
  await until('a stamp', () => {
    if (!existsSync(home.at('run/pending/ada'))) hook('PostToolUse'); // under load a hook may not have had the time
    return existsSync(home.at('run/pending/ada'));
  });
  const whole = readFileSync(script, 'utf8');
  writeFileSync(script, whole.replace(/\nnode=.*\n/, "\nnode='/bin/echo'\n"));
  assert.equal(hook('PostToolUse'), '');
  assert.match(hook('SessionStart'), /hook --harness claude --event SessionStart/);
  writeFileSync(script, whole);
  const pushed = await home.run([
    'inbox',
    'push',
    '--to',
    'ada',
    '--type',
    'alert',
    '--priority',
    '0',
    'the build is red',
  ]);
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.equal(existsSync(home.at('run/pending/ada')), false);
  assert.match(hook('PostToolUse'), /additionalContext.*the build is red/);
});

test('seed 26: an idle agent is nudged once by the tray process when something is pushed, and is not while it works', async () => {
  using home = local();
  const rung: string[] = [];
  const bell = createServer((request, response) => {
    request.on('data', (chunk) => rung.push(String(chunk)));
    request.on('end', () => response.end('{"delivered": true}'));
  });
  await new Promise<void>((resolve) => bell.listen(0, '127.0.0.1', resolve));
  try {
    const wake = `http://127.0.0.1:${(bell.address() as AddressInfo).port}/`;
    const set = await home.run(['session', 'set', 'ada', '--pid', `${process.pid}`, '--wake', wake]);
    assert.equal(set.code, 0, set.stderr);
    mkdirSync(home.at('run/activity'), { recursive: true, mode: 0o700 });
    writeFileSync(home.at('run/activity/ada'), 'PostToolUse\n');
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    const push = () => home.run(['inbox', 'push', '--to', 'ada', '--type', 'event', 'SECRET']);
    await push();
    await tray.persona('ada', ({ unread }) => unread === 1);
    assert.deepEqual(rung, []);
    writeFileSync(home.at('run/activity/ada'), 'Stop\n');
    await push();
    await until('a nudge', () => rung.length > 0, 60_000);
    await push();
    await tray.persona('ada', ({ unread }) => unread === 3);
    assert.deepEqual(
      rung.map((text) => JSON.parse(text).message.replace(/\d+ items? waits?/, 'N')),
      ['hivebar: N in your inbox'],
    );
  } finally {
    bell.close();
  }
});

test('a script that an earlier install wrote goes on as it did, and status says that it is old', async () => {
  using home = local();
  const hook = await installed(home);
  const status = () =>
    home.run(['hook', 'status', '--harness', 'claude'], { env: { CLAUDE_CONFIG_DIR: home.at('claude') } });
  assert.equal((await status()).code, 0);
  const script = home.at('hook/hivebar-hook');
  const now = readFileSync(script, 'utf8');
  const before = now
    .replace(`${programEntry('hook')}'`, `${programEntry('hivebar')}'`)
    .replace("trap 'drain; exit 0' 0", "trap 'exit 0' 0");
  assert.notEqual(before, now);
  writeFileSync(script, before);
  const { code, stdout } = await status();
  assert.equal(code, 1);
  assert.match(stdout, /its script is old: run hivebar hook install/);
  const fields = ['--type', 'alert', '--priority', '0', 'told by the old one'];
  const pushed = await home.run(['inbox', 'push', '--to', 'ada', ...fields]);
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.match(hook('PostToolUse'), /additionalContext.*told by the old one/);
  await installed(home);
  assert.deepEqual([(await status()).code, readFileSync(script, 'utf8')], [0, now]);
});
