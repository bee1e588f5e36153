import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { programEntry } from '../kit/program.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
const RING = '"method":"notifications/claude/channel"';

// Without a login Claude Code takes no channel, so that a ring begins a turn was not run. That it is lost is.
test('the real Claude Code beside a channel: a waiter rings alone, and a ring that Claude Code drops loses no mail', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir };
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
  };
  await run('hook', 'install', '--harness', 'claude', '--persona', 'ada');
  // All that the server says goes through a file.
  const output = home.at('mcp-output');
  const server = [process.execPath, programEntry('hivebar'), 'mcp', '--channel'];
  const args = ['-c', '"$@" | tee "$0"', output, ...server];
  const config = home.at('mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { hivebar: { command: '/bin/sh', args, env: { ...home.env } } } }),
  );
  await using terminals = agentTerminals(home.home);
  const channel = ['--dangerously-load-development-channels', 'server:hivebar'];
  terminals.start('one', project, env, [client.program, '--mcp-config', config, ...channel]);
  await terminals.shows('one', PROMPT);

  const dir = home.at('run', 'waiters', 'ada');
  const isWaiting = (): boolean => existsSync(dir) && readdirSync(dir).some((name) => name.includes('.'));
  const rings = (): readonly string[] =>
    readFileSync(output, 'utf8')
      .split('\n')
      .filter((line) => line.includes(RING));
  const count = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
  const isAsked = (text: string): Promise<void> =>
    until(
      () => `${text} is asked:\n${terminals.screen('one')}`,
      () => count(text) > 0,
    );
  await terminals.say('one', 'Hello');
  await isAsked('Hello');
  await terminals.shows('one', /channels aren't available right now/);
  const rests = (): boolean => isWaiting() && PROMPT.test(terminals.screen('one'));
  await until('its waiter waits', rests);
  await run('send', '--to', 'ada', '--from', 'bo', 'FIRST MAIL');
  await isAsked('FIRST MAIL');
  await until('its next waiter waits', rests);
  assert.deepEqual([count('hivebar: 1 item waits in your inbox'), rings()], [1, []]);

  await run('config', 'set', 'nudge', '{"waiter": false, "socket": false}');
  await run('send', '--to', 'ada', '--from', 'bo', 'SECOND MAIL');
  await until('the channel rings', () => rings().length > 0);
  assert.doesNotMatch(rings().join('\n'), /MAIL/);
  await terminals.say('one', 'Go on');
  await isAsked('SECOND MAIL');
  assert.deepEqual([count('FIRST MAIL'), count('SECOND MAIL'), rings().length], [1, 1, 1]);
});
