import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;

test('the real Claude Code, idle, begins a turn when mail comes, with the tray closed and open, and is shown it once', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const thinking = Promise.withResolvers<null>();
  await using model = await modelServer(({ fresh }) => (fresh.includes('Think about it') ? thinking.promise : null));
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir };
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
  };
  await run('hook', 'install', '--harness', 'claude', '--persona', 'ada');
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await terminals.shows('one', PROMPT);

  const dir = home.at('run', 'waiters', 'ada');
  const list = (): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);
  const isWaiting = (): boolean => list().some((name) => name.includes('.'));
  const count = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
  const isShown = (text: string): Promise<void> =>
    until(
      () => `${text} is shown:\n${terminals.screen('one')}`,
      () => count(text) > 0,
    );
  const isIdle = (): Promise<void> =>
    until(
      () => `it waits: ${list()}\n${terminals.screen('one')}`,
      () => isWaiting() && PROMPT.test(terminals.screen('one')),
    );

  await terminals.say('one', 'Hello');
  await isShown('Hello');
  await isIdle();
  await run('send', '--to', 'ada', '--from', 'bo', 'FIRST MAIL');
  await isShown('FIRST MAIL');
  await isIdle();

  // The tray process could also ring at the socket of the session.
  const sessions = `${home.home}/.claude/sessions`;
  const [file = ''] = readdirSync(sessions).filter((name) => /^\d+\.json$/.test(name));
  assert.match(readFileSync(`${sessions}/${file}`, 'utf8'), /"messagingSocketPath":"\//);
  await using _tray = await home.start(['--no-tray', '--no-notifications'], env);
  await run('send', '--to', 'ada', '--from', 'bo', 'SECOND MAIL');
  await isShown('SECOND MAIL');
  await isIdle();

  // What comes while it works is neither shown by the Stop, being ordinary mail, nor lost after it.
  await terminals.say('one', 'Think about it');
  await isShown('Think about it');
  await run('send', '--to', 'ada', '--from', 'bo', 'THIRD MAIL');
  thinking.resolve(null);
  await isShown('THIRD MAIL');
  await isIdle();

  const wakes = model.asks.map(({ fresh }) => /hivebar: \d+ items? waits? in your inbox/.exec(fresh)?.[0] ?? null);
  assert.deepEqual(
    wakes.filter((words) => words !== null),
    Array.from({ length: 3 }, () => 'hivebar: 1 item waits in your inbox'),
    'each once, and none for nothing',
  );
  assert.deepEqual(['FIRST MAIL', 'SECOND MAIL', 'THIRD MAIL'].map(count), [1, 1, 1]);

  await terminals.say('one', '/exit');
  await until(
    () => `nothing waits: ${list()}`,
    () => list().length === 0,
  );
});
