import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { trustAll } from '../../test/kit/hooks.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { HARNESSES } from '../hook/index.ts';
import { command } from './hook.ts';

const PLUGIN = join(import.meta.dirname, '..', '..', 'assets', 'plugin');

function rig(variables: Readonly<Record<string, string>> = {}) {
  const home = scratch();
  const env: Record<string, string> = {
    HIVEBAR_HOME: home.at('state'),
    CLAUDE_CONFIG_DIR: home.at('claude'),
    CODEX_HOME: home.at('codex'),
    HOME: home.at('home'),
  };
  for (const [name, folder] of Object.entries(variables)) env[name] = home.at(folder);
  let output = '';
  const run = async (...args: string[]): Promise<readonly [number, string]> => {
    output = '';
    const io = {
      env,
      out(text: string): void {
        output += text;
      },
      err: () => {},
      input: () => Promise.resolve(''),
    };
    const code = await command.run(args, io, {});
    return [code, output];
  };
  return { home, env, run, [Symbol.dispose]: () => home[Symbol.dispose]() };
}

test('given an agent program that is used here, install, status and uninstall say what they did, and exit by it', async () => {
  using r = rig();
  await assert.rejects(r.run('install'), { code: 'usage', message: /use --harness claude.* or / });
  mkdirSync(r.home.at('claude'));
  assert.deepEqual(await r.run('status'), [1, `Claude Code  absent      ${r.home.at('claude/settings.json')}\n`]);
  const [code, output] = await r.run('install', '--persona', 'ada');
  assert.equal(code, 0);
  assert.match(output, /^Claude Code: installed for ada in .*settings\.json\n/);
  assert.equal(existsSync(r.home.at('codex')), false);
  assert.deepEqual((await r.run('status'))[0], 0);
  assert.match((await r.run('status'))[1], /Claude Code {2}installed {3}ada/);
  assert.match((await r.run('install'))[1], /installed already for ada/);
  assert.deepEqual(JSON.parse((await r.run('status', '--json', '--harness', 'claude'))[1])[0].persona, 'ada');
  assert.match((await r.run('uninstall'))[1], /^Claude Code: removed from .*\n$/);
  assert.equal((await r.run('status'))[0], 1);
});

test('given Codex, which runs only what its user trusted, install, status and their exit codes say so', async () => {
  using r = rig();
  const untrusted = (is: string): RegExp =>
    new RegExp(`installed, ${is}: run /hooks in Codex \\(${r.home.at('codex/config.toml')}: hooks\\.state\\."`);
  const [code, output] = await r.run('install', '--harness', 'codex');
  assert.equal(code, 1);
  assert.match(output, /^Codex: installed for whoever HIVEBAR_PERSONA names in .*hooks\.json\n/);
  assert.match(output, untrusted('not trusted'));
  const status = async (is: string): Promise<void> => {
    const [failed, line] = await r.run('status');
    assert.equal(failed, 1);
    assert.match(line, untrusted(is));
  };
  await status('not trusted');
  r.home.write('codex/config.toml', trustAll(r.home.at('codex/hooks.json')));
  assert.equal((await r.run('status'))[0], 0);
  assert.equal((await r.run('install', '--harness', 'codex'))[0], 0);
  const hooks = r.home.text('codex/hooks.json');
  r.home.write('codex/hooks.json', hooks.replace('"timeout": 10', '"timeout": 11'));
  r.home.write('codex/config.toml', trustAll(r.home.at('codex/hooks.json')));
  r.home.write('codex/hooks.json', hooks);
  await status('not trusted in this form');
  r.home.write('codex/config.toml', `${trustAll(r.home.at('codex/hooks.json'))}enabled = false\n`);
  await status('switched off');
});

test('given an agent program whose settings hold comments, its hooks are printed, and found once they were added', async () => {
  using r = rig();
  mkdirSync(r.home.at('home/.gemini'), { recursive: true });
  r.home.write('home/.gemini/settings.json', '// mine\n{}\n');
  await assert.rejects(r.run('install', '--harness', 'gemini'), { code: 'settings', message: /hivebar hook print/ });
  const [code, printed] = await r.run('print', 'gemini', '--persona', 'ada');
  assert.equal(code, 0);
  r.home.write('home/.gemini/settings.json', `// mine\n${printed}`);
  assert.match((await r.run('status', '--harness', 'gemini'))[1], /^Gemini CLI {3}installed {3}ada/);
  await assert.rejects(r.run('uninstall', '--harness', 'gemini'), { code: 'settings' });
});

test('given each agent program, install adds its hooks in its own file, and uninstall leaves no file behind', async () => {
  using r = rig();
  for (const harness of HARNESSES) {
    const [, output] = await r.run('install', '--harness', harness, '--persona', 'ada');
    const path = /in (\/.*)\n/.exec(output)?.[1] ?? '';
    assert.ok(existsSync(path), output);
    const status = JSON.parse((await r.run('status', '--json', '--harness', harness))[1])[0];
    assert.deepEqual([status.standing, status.persona, status.failure], ['installed', 'ada', null], harness);
    assert.match((await r.run('uninstall', '--harness', harness))[1], /removed from/);
    assert.equal(existsSync(path), false, harness);
  }
  assert.deepEqual(readdirSync(r.home.at('home/.agents/plugins')), []);
});

test('given a folder of settings that a variable names, the plugin of OpenCode is put and found there', async () => {
  using r = rig({ XDG_CONFIG_HOME: 'elsewhere' });
  assert.match(
    (await r.run('install', '--harness', 'opencode', '--persona', 'ada'))[1],
    /elsewhere\/opencode\/plugins\/hivebar\.js/,
  );
  assert.match((await r.run('status'))[1], /^OpenCode {5}installed {3}ada .*\n$/);
  const [, printed] = await r.run('print', 'opencode', '--persona', 'ada');
  assert.equal(printed, readFileSync(r.home.at('elsewhere/opencode/plugins/hivebar.js'), 'utf8'));
  await r.run('uninstall');
  assert.equal(existsSync(r.home.at('elsewhere/opencode/plugins')), false);
});

/** What Claude Code and Codex have of an installed plugin. */
function installPlugin(r: ReturnType<typeof rig>, isOn = true): void {
  const copies = {
    claude: 'claude/plugins/cache/hivebar/hivebar/0.1.0',
    codex: 'codex/plugins/cache/mine/hivebar/0.1.0',
  };
  for (const copy of Object.values(copies)) cpSync(PLUGIN, r.home.at(copy), { recursive: true });
  const entry = { scope: 'user', installPath: r.home.at(copies.claude), version: '0.1.0' };
  const registry = JSON.stringify({ version: 2, plugins: { 'hivebar@hivebar': [entry] } });
  r.home.write('claude/plugins/installed_plugins.json', registry);
  r.home.write('claude/settings.json', JSON.stringify({ enabledPlugins: { 'hivebar@hivebar': isOn } }));
  r.home.write('codex/config.toml', `[plugins."hivebar@mine"]\nenabled = ${isOn}\n`);
}

test('given the plugin, status says so, runs its command and exits by it; one that is off or gone is no success', async () => {
  using r = rig();
  installPlugin(r);
  const root = r.home.at('claude/plugins/cache/hivebar/hivebar/0.1.0');
  const line = `Claude Code  plugin      installed as a plugin of Claude Code  hivebar@hivebar  ${root}`;
  assert.deepEqual(
    await r.run('status', '--harness', 'claude'),
    [0, `${line}\n`],
    'its first session is still to come',
  );
  await r.run('print', 'claude'); // as this session does
  assert.deepEqual(await r.run('status', '--harness', 'claude'), [0, `${line}\n`]);
  const script = r.home.text('state/hook/hivebar-hook');
  r.home.write('state/hook/hivebar-hook', '#!/bin/sh\necho broken\n');
  assert.match(
    (await r.run('status', '--harness', 'claude'))[1],
    /they do not work: it ended with 0 and printed: broken/,
  );
  r.home.write('state/hook/hivebar-hook', script);

  await r.run('install', '--harness', 'claude', '--persona', 'ada');
  assert.match(
    (await r.run('status', '--harness', 'claude'))[1],
    /installed {3}ada .*\(its plugin hivebar@hivebar is silent\)\n$/,
  );
  await r.run('uninstall', '--harness', 'claude');
  r.home.write('claude/settings.json', '{"enabledPlugins":{"hivebar@hivebar":true},"disableAllHooks":true}');
  const [code, output] = await r.run('status', '--harness', 'claude');
  assert.equal(code, 1);
  assert.match(output, /they do not run: .*disableAllHooks/);
  installPlugin(r);
  rmSync(root, { recursive: true });
  assert.match(
    (await r.run('status', '--harness', 'claude'))[1],
    /the plugin hivebar@hivebar is gone: install it again in Claude Code/,
  );
  installPlugin(r, false);
  for (const harness of ['claude', 'codex'])
    assert.match((await r.run('status', '--harness', harness))[1], / absent /, harness);
});

test('given the plugin in Codex, which runs only what its user trusted, status says so and names the hooks as Codex does', async () => {
  using r = rig();
  installPlugin(r);
  const [code, output] = await r.run('status', '--harness', 'codex');
  assert.equal(code, 1);
  assert.match(output, /^Codex {8}plugin {6}installed as a plugin of Codex {2}hivebar@mine {2}/);
  assert.match(
    output,
    /installed, not trusted: run \/hooks in Codex .*"hivebar@mine:hooks\/codex\.json:session_start:0:0"/,
  );
  const trusted = trustAll(join(PLUGIN, 'hooks/codex.json'), 'hivebar@mine:hooks/codex.json');
  r.home.write('codex/config.toml', `${r.home.text('codex/config.toml')}${trusted}`);
  assert.equal((await r.run('status', '--harness', 'codex'))[0], 0);
});

test('given settings of a program that cannot be read and are none of ours, the others are shown all the same', async () => {
  using r = rig();
  mkdirSync(r.home.at('home/.qwen'), { recursive: true });
  r.home.write('home/.qwen/settings.json', 'not json');
  await r.run('install', '--harness', 'claude', '--persona', 'ada');
  assert.equal((await r.run('status'))[0], 0);
  assert.match((await r.run('uninstall'))[1], /^Claude Code: removed from .*\n$/);
  await assert.rejects(r.run('status', '--harness', 'qwen'), { code: 'settings' });
});

test('given wrong words, usage names them', async () => {
  using r = rig();
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['install', 'x'], /unexpected argument x/],
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

test('C6 G6 status runs what is installed once: hooks that are switched off or whose program is gone are no success', async () => {
  using r = rig();
  await r.run('install', '--harness', 'claude', '--persona', 'ada');
  assert.deepEqual((await r.run('status'))[0], 0);
  const path = r.home.at('claude/settings.json');
  const good = r.home.text('claude/settings.json');
  r.home.write('claude/settings.json', JSON.stringify({ ...JSON.parse(good), disableAllHooks: true }));
  assert.deepEqual(await r.run('status'), [
    1,
    `Claude Code  installed   ada  ${path}  (they do not run: ${path} says "disableAllHooks": true)\n`,
  ]);
  r.home.write('claude/settings.json', good);
  chmodSync(r.home.at('state/hook/hivebar-hook'), 0o600);
  const [code, output] = await r.run('status');
  assert.equal(code, 1);
  assert.match(
    output,
    /settings\.json: hooks\.SessionStart\[0\]\.hooks\[0\] names .*hivebar-hook, which is not executable: run hivebar hook install\)/,
  );
  const json = JSON.parse((await r.run('status', '--json', '--harness', 'claude'))[1])[0];
  assert.match(json.failure, /126/);
  await r.run('install', '--harness', 'claude');
  assert.equal((await r.run('status'))[0], 0);
});

test('C7 install for several harnesses does all of it or none', async () => {
  using r = rig();
  mkdirSync(r.home.at('claude'));
  mkdirSync(r.home.at('codex'));
  r.home.write('codex/hooks.json', '{"hooks": 5}');
  await assert.rejects(r.run('install', '--persona', 'ada'), { code: 'settings', message: /hooks is not an object/ });
  assert.equal(existsSync(r.home.at('claude/settings.json')), false);
  assert.equal(existsSync(r.home.at('state')), false);
});

test('C6 what keeps each agent program from running its hooks is named by status, with its file, and exits with 1', async () => {
  const off = { disableAllHooks: true };
  const switches = [
    ['claude', 'claude/settings.json', off, '"disableAllHooks": true'],
    ['claude', 'claude/remote-settings.json', { allowManagedHooksOnly: true }, '"allowManagedHooksOnly": true'],
    ['codex', 'codex/config.toml', 'features.hooks = false\n', 'features.hooks = false'],
    ['gemini', 'home/.gemini/settings.json', { hooksConfig: { enabled: false } }, '"hooksConfig.enabled": false'],
    ['qwen', 'home/.qwen/settings.json', off, '"disableAllHooks": true'],
    ['copilot', 'home/.copilot/settings.json', off, '"disableAllHooks": true'],
    ['copilot', 'home/.copilot/hooks/hivebar.json', off, '"disableAllHooks": true'],
    ['goose', 'home/.config/goose/settings.json', { disabledPlugins: ['hivebar'] }, '"hivebar" in "disabledPlugins"'],
  ] as const;
  for (const [harness, file, content, words] of switches) {
    using r = rig();
    await r.run('install', '--harness', harness, '--persona', 'ada');
    const trusted = harness === 'codex' ? trustAll(r.home.at('codex/hooks.json')) : '';
    if (harness === 'codex') r.home.write('codex/config.toml', trusted);
    assert.equal((await r.run('status', '--harness', harness))[0], 0, harness);
    mkdirSync(dirname(r.home.at(file)), { recursive: true });
    if (typeof content === 'string') r.home.write(file, `${content}${trusted}`);
    else {
      const before = existsSync(r.home.at(file)) ? JSON.parse(r.home.text(file)) : {};
      r.home.write(file, JSON.stringify({ ...before, ...content }));
    }
    const [code, line] = await r.run('status', '--harness', harness);
    assert.equal(code, 1, file);
    assert.ok(line.includes(`(they do not run: ${r.home.at(file)} `) && line.includes(words), line);
  }
});

test('G7 a script, a Node or a program that is gone is named by status for each agent program, and exits with 1', async () => {
  for (const harness of HARNESSES) {
    using r = rig();
    await r.run('install', '--harness', harness, '--persona', 'ada');
    if (harness === 'codex') r.home.write('codex/config.toml', trustAll(r.home.at('codex/hooks.json')));
    assert.equal((await r.run('status', '--harness', harness))[0], 0, harness);
    const script = r.home.text('state/hook/hivebar-hook');
    r.home.write('state/hook/hivebar-hook', script.replace(/\nnode=.*\n/, "\nnode='/gone/node'\n"));
    const [noNode, output] = await r.run('status', '--harness', harness);
    assert.deepEqual(
      [noNode, output.includes('hivebar-hook names /gone/node, which is gone: run hivebar hook install')],
      [1, true],
      output,
    );
    rmSync(r.home.at('state/hook/hivebar-hook'));
    const [noScript, line] = await r.run('status', '--harness', harness);
    assert.deepEqual(
      [noScript, line.includes('hivebar-hook, which is gone: run hivebar hook install')],
      [1, true],
      line,
    );
  }
});
