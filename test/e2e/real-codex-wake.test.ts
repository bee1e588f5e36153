import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { readActivity } from '../../app/hook/index.ts';
import { agentTerminals, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

test('the real Codex, idle, begins a turn by its own queue when mail comes, and is shown it once', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const env = {
    ...prepareCodex(home.home, [project], model.url),
    HIVEBAR_HOME: home.dir,
    PATH: `${dirname(client.program)}:${process.env.PATH}`,
  };
  const hivebar = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
  };
  await home.run(['hook', 'install', '--harness', 'codex', '--persona', 'cy'], { env }); // not trusted yet, it says
  await using tray = await home.start(['--no-tray', '--no-notifications'], env);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await trustCodexHooks(terminals, 'one');
  await waitForCodex(terminals, 'one');
  const count = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
  const isAsked = (text: string): Promise<void> =>
    until(
      () => `${text}:\n${terminals.screen('one')}\n${tray.log.slice(-5).join('\n')}`,
      () => count(text) > 0,
    );

  await terminals.say('one', 'Hello');
  await isAsked('Hello');
  await until('it rests', () => readActivity(home.at('run'), 'cy')?.moment === 'Stop');
  await hivebar('send', '--to', 'cy', '--from', 'bo', 'MAIL FOR CY');
  await isAsked('hivebar: 1 item waits in your inbox');
  await isAsked('MAIL FOR CY');
  await tray.persona('cy', ({ agent, unread }) => agent === 'idle' && unread === 0);
  assert.deepEqual([count('hivebar: 1 item waits'), count('MAIL FOR CY')], [1, 1]);
});
