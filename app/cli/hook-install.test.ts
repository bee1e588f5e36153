import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { hookInstall } from './hook-install.ts';

function rig() {
  const home = scratch();
  const env = {
    HIVEBAR_HOME: home.at('state'),
    CLAUDE_CONFIG_DIR: home.at('claude'),
    CODEX_HOME: home.at('codex'),
  };
  let said = '';
  const run = async (...args: string[]): Promise<readonly [number, string]> => {
    said = '';
    const io = {
      env,
      out(text: string): void {
        said += text;
      },
      err: () => {},
      input: () => Promise.resolve(''),
    };
    const code = await hookInstall(args, io);
    return [code, said];
  };
  return { home, env, run, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('given an agent program that is used here, install, status and uninstall say what they did, and exit by it', async () => {
  using r = rig();
  await assert.rejects(r.run('install'), { code: 'usage', message: /--harness claude\|codex/ });
  mkdirSync(r.home.at('claude'));
  assert.deepEqual(await r.run('status'), [1, `Claude Code  absent      ${r.home.at('claude/settings.json')}\n`]);
  const [code, said] = await r.run('install', '--persona', 'ada');
  assert.equal(code, 0);
  assert.match(said, /^Claude Code: installed for ada in .*settings\.json\n/);
  assert.equal(existsSync(r.home.at('codex')), false);
  assert.deepEqual((await r.run('status'))[0], 0);
  assert.match((await r.run('status'))[1], /Claude Code {2}installed {3}ada/);
  assert.match((await r.run('install'))[1], /installed already for ada/);
  assert.deepEqual(JSON.parse((await r.run('status', '--json', '--harness', 'claude'))[1])[0].persona, 'ada');
  assert.match((await r.run('uninstall'))[1], /Claude Code: removed from .*\nCodex: nothing of ours in/);
  assert.equal((await r.run('status'))[0], 1);
});

test('given Codex, it is said that it has to trust them', async () => {
  using r = rig();
  const [, said] = await r.run('install', '--harness', 'codex');
  assert.match(said, /^Codex: installed for whoever HIVEBAR_PERSONA names in .*hooks\.json\n.*\n.*trust/);
});

test('given wrong words, usage names them', async () => {
  using r = rig();
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [[], /install, uninstall, status/],
    [['instal'], /install, uninstall, status/],
    [['install', 'x'], /x is too much/],
    [['install', '--harness', 'vim'], /vim/],
    [['install', '--persona', ''], /--persona/],
    [['install', '--persona', 'a\nb'], /--persona/],
    [['uninstall', '--persona', 'ada'], /--persona/],
    [['install', '--json'], /--json/],
    [['status', '--what'], /--what/],
  ];
  for (const [args, message] of wrong) await assert.rejects(r.run(...args), { code: 'usage', message }, args.join(' '));
});

test('what is installed is a command that a shell runs, and that reaches this very program', async () => {
  using r = rig();
  await r.run('install', '--harness', 'claude', '--persona', "o'neil");
  const settings = JSON.parse(r.home.text('claude/settings.json')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>;
  };
  const command = settings.hooks.Stop?.[0]?.hooks[0]?.command ?? '';
  const script = r.home.text('state/hook/hivebar-hook');
  assert.ok(script.includes(`\nnode='${process.execPath}'\n`));
  assert.match(script, /\nentry='.*\/app\/cli\/hook\.node\.ts'\n/);
  const stub = script.replace(/\nnode=.*\n/, "\nnode='/bin/echo'\n");
  r.home.write('state/hook/hivebar-hook', stub);
  const ran = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8', env: {} });
  assert.match(ran.stdout, /\/hook\.node\.ts hook --harness claude --event Stop\n/);
  assert.deepEqual([ran.status, ran.stderr], [0, '']);
});
