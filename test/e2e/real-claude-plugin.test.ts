import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installCommand, MARKETPLACE, runToEnd } from '../kit/agent-plugin.ts';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { doctor } from '../kit/doctor.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
const HELD = 'This stop is held by Hivebar';
const LIST = 'mcp__plugin_hivebar_hivebar__inbox_list';
const INSTALLED = /^Claude Code {2}plugin {6}installed as a plugin of Claude Code {2}hivebar@hivebar {2}\//;

test('the real Claude Code with the plugin: mail with a prompt, a wake when idle, tools; and beside installed hooks nothing comes twice', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = join(home.home, 'project');
  mkdirSync(project);
  const [thinking, answered] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  await using model = await modelServer(({ fresh }) => {
    if (fresh.includes('List my mail')) return [{ tool: LIST, input: {} }];
    if (fresh.includes('Think about it')) return thinking.promise;
    return fresh.includes(HELD) ? answered.promise : null;
  });
  const PATH = installCommand(home.home);
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir, PATH };
  const claude = (...args: readonly string[]): Promise<string> =>
    runToEnd(client.program, args, project, { ...env, HOME: home.home });
  const hivebar = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  };
  const status = (): Promise<string> => hivebar('hook', 'status', '--harness', 'claude');

  for (const folder of [MARKETPLACE, join(MARKETPLACE, 'assets', 'plugin')])
    assert.match(await claude('plugin', 'validate', folder), /Validation passed\s*$/);
  await claude('plugin', 'marketplace', 'add', MARKETPLACE);
  await claude('plugin', 'install', 'hivebar@hivebar');
  assert.match(await status(), INSTALLED, 'before its first session');
  await hivebar('session', 'set', 'ada', '--cwd', project);

  await using terminals = agentTerminals(home.home);
  const waiters = home.at('run', 'waiters', 'ada');
  const listBells = (): readonly string[] =>
    existsSync(waiters) ? readdirSync(waiters).filter((name) => name.includes('.')) : [];
  const count = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
  const isShown = (name: string, text: string): Promise<void> =>
    until(
      () => `${text} is shown:\n${terminals.screen(name)}`,
      () => count(text) > 0,
    );
  const isIdle = (name: string): Promise<void> =>
    until(
      () => `it waits: ${listBells()}\n${terminals.screen(name)}`,
      () => listBells().length > 0 && PROMPT.test(terminals.screen(name)),
    );
  const leave = async (name: string): Promise<void> => {
    await terminals.say(name, '/exit');
    await until('no waiter is left', () => listBells().length === 0);
  };

  terminals.start('one', project, env, [client.program, '--allowedTools', LIST]);
  await terminals.shows('one', PROMPT);
  await hivebar('inbox', 'push', '--to', 'ada', '--type', 'event', 'FIRST MAIL');
  await terminals.say('one', 'Hello');
  await isShown('one', 'FIRST MAIL');
  await isIdle('one');
  await hivebar('send', '--to', 'ada', '--from', 'bo', 'SECOND MAIL');
  await isShown('one', 'SECOND MAIL');
  await isIdle('one');
  assert.match(await status(), INSTALLED);
  const { is, seen } = (await doctor(home, env)).findCheck('hooks');
  assert.deepEqual([is, seen], ['ok', 'Claude Code (as a plugin): installed, and they answer']);
  assert.match(await claude('mcp', 'list'), /^plugin:hivebar:hivebar: .*Connected$/m);
  const listStarts = logNode(home.at('hook', 'hivebar-hook'), home.at('starts'));
  await terminals.say('one', 'List my mail');
  await isShown('one', '"unread":0');
  await isIdle('one');
  assert.doesNotMatch(listStarts(), /PreToolUse|PostToolUse/, 'a quiet hook starts nothing, though nobody named ada');
  await leave('one');

  // With the hooks of `hook install` as well, and the status line of the guide.
  await hivebar('hook', 'install', '--harness', 'claude');
  assert.match(await status(), /^Claude Code {2}installed .*\(its plugin hivebar@hivebar is silent\)\n$/);
  const settings = join(home.home, '.claude', 'settings.json');
  const own = JSON.parse(readFileSync(settings, 'utf8')) as object;
  writeFileSync(
    settings,
    JSON.stringify({ ...own, statusLine: { type: 'command', command: 'hivebar statusline', refreshInterval: 1 } }),
  );
  await using _tray = await home.start(['--no-tray', '--no-notifications'], env);
  terminals.start('two', project, env, [client.program]);
  await terminals.shows('two', PROMPT);
  await terminals.shows('two', /ada: 0 unread/);
  await hivebar('inbox', 'push', '--to', 'ada', '--type', 'event', 'THIRD MAIL');
  await terminals.say('two', 'Hello again');
  await isShown('two', 'THIRD MAIL');
  await isIdle('two');
  await hivebar('send', '--to', 'ada', '--from', 'bo', 'FOURTH MAIL');
  await isShown('two', 'FOURTH MAIL');
  await isIdle('two');
  assert.equal(listBells().length, 1, 'one waiter');
  await terminals.say('two', 'Think about it');
  await isShown('two', 'Think about it');
  const created = await hivebar('decision', 'create', '--as', 'ada', '--option', 'a=the long way', 'Which way?');
  thinking.resolve(null);
  await isShown('two', HELD);
  const held = model.asks.map(({ fresh }) => fresh.split(HELD).length - 1).filter((times) => times > 0);
  assert.deepEqual(held, [1], 'one hook holds the stop');
  await hivebar('decision', 'respond', /^decision (\d+) /.exec(created)?.[1] ?? '', '--select', 'a');
  answered.resolve(null);
  await isIdle('two');
  await leave('two');

  const wakes = model.asks.filter(({ fresh }) => /hivebar: \d+ items? waits? in your inbox/.test(fresh));
  assert.equal(wakes.length, 2, 'one wake for each mail to an idle agent');
  const mails = ['FIRST MAIL', 'SECOND MAIL', 'THIRD MAIL', 'FOURTH MAIL'];
  const times = mails.map((mail) =>
    model.asks.map(({ fresh }) => fresh.split(mail).length - 1).reduce((a, b) => a + b),
  );
  assert.deepEqual(times, [1, 1, 1, 1], 'each is shown once');

  await claude('plugin', 'disable', 'hivebar@hivebar');
  assert.match(await status(), /^Claude Code {2}installed (?!.*plugin)/);
});

/** Has the script of the hooks start a Node that says so in a file. */
function logNode(script: string, log: string): () => string {
  writeFileSync(`${log}.sh`, `#!/bin/sh\necho "$*" >>'${log}'\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  writeFileSync(script, readFileSync(script, 'utf8').replace(/^node=.*$/m, `node='${log}.sh'`));
  return () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
}

test('the real Claude Code with the plugin and without Hivebar: a session as any other, and the server says what is missing', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = join(home.home, 'project');
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.at('none'), PATH: '/usr/bin:/bin' };
  const claude = (...args: readonly string[]): Promise<string> =>
    runToEnd(client.program, args, project, { ...env, HOME: home.home });
  await claude('plugin', 'marketplace', 'add', MARKETPLACE);
  await claude('plugin', 'install', 'hivebar@hivebar');
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await terminals.shows('one', PROMPT);
  await terminals.say('one', 'Hello');
  await until('it is answered', () => model.asks.some(({ fresh }) => fresh.includes('Hello')));
  assert.doesNotMatch(terminals.screen('one'), /hook (?:error|failed)/i);
  assert.match(
    await claude('mcp', 'list'),
    /hivebar: .*Failed .*Hivebar is not on the PATH of this program: install it/,
  );
});
