import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { readActivity } from '../../app/hook/index.ts';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { createTestNudger } from '../kit/nudger.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const PROMPT = /\n❯\s*\n─/;
const WORDS = 'hivebar: 1 item waits in your inbox';

test('the real Claude Code, idle and without a waiter, begins a turn by its inbox socket, once for each mail, and is shown it', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome({ primary: { is: 'local' }, nudge: { waiter: false } });
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const env = { ...prepareClaude(home.home, project, model.url), HIVEBAR_HOME: home.dir };
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
  };
  await run('hook', 'install', '--harness', 'claude', '--persona', 'ada');
  await using tray = await home.start(['--no-tray', '--no-notifications'], env);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program, '--permission-mode', 'default']);
  await terminals.shows('one', PROMPT);
  const asks = (text: string) => model.asks.filter(({ fresh }) => fresh.includes(text));
  const isAsked = (text: string): Promise<void> =>
    until(
      () => `${text} is asked:\n${terminals.screen('one')}\n${tray.log.slice(-5).join('\n')}`,
      () => asks(text).length > 0,
    );
  using claude = createTestNudger(home, env);
  const isIdle = (): Promise<void> =>
    until(
      () => `it rests:\n${terminals.screen('one')}`,
      () => readActivity(home.at('run'), 'ada')?.moment === 'Stop' && claude.stateOfAgent() === 'idle',
    );

  await terminals.say('one', 'Hello');
  await isAsked('Hello');
  await isIdle();
  // The same words twice within a moment, for two things.
  for (const mail of ['FIRST MAIL', 'SECOND MAIL']) {
    await run('send', '--to', 'ada', '--from', 'bo', mail);
    await isAsked(mail);
    const [ask] = asks(mail);
    assert.ok(
      ask?.fresh.includes(WORDS),
      'the turn begins with the sentence, and the hook of its prompt shows the mail',
    );
    await isIdle();
  }
  await tray.persona('ada', ({ unread }) => unread === 0);
  assert.deepEqual(
    [asks(WORDS), asks('FIRST MAIL'), asks('SECOND MAIL')].map(({ length }) => length),
    [2, 1, 1],
  );
});
