import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { installCommand, MARKETPLACE, runToEnd } from '../kit/agent-plugin.ts';
import { agentTerminals, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { listCodexHooks } from '../kit/codex-app-server.ts';
import { doctor } from '../kit/doctor.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

test('the real Codex with the plugin: not trusted, and hook status says so; trusted, mail with a prompt, and tools', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = join(home.home, 'project');
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const codex = {
    ...prepareCodex(home.home, [project], model.url),
    HIVEBAR_HOME: home.dir,
    PATH: installCommand(home.home),
  };
  const env = { ...codex, HOME: home.home };
  const hivebar = async (args: readonly string[]) => {
    const { code, stdout } = await home.run(args, { env: codex });
    return [code, stdout] as const;
  };
  const status = () => hivebar(['hook', 'status', '--harness', 'codex']);
  const verdicts = async () => [
    ...new Set((await listCodexHooks(client.program, env, project)).map(({ trustStatus }) => trustStatus)),
  ];

  await runToEnd(client.program, ['plugin', 'marketplace', 'add', MARKETPLACE], project, env);
  await runToEnd(client.program, ['plugin', 'add', 'hivebar@hivebar'], project, env);
  assert.deepEqual(await verdicts(), ['untrusted']);
  const [code, output] = await status();
  assert.equal(code, 1);
  assert.match(output, /^Codex {8}plugin {6}installed as a plugin of Codex {2}hivebar@hivebar {2}\//);
  assert.match(output, /installed, not trusted: run \/hooks in Codex/);

  const { is, seen } = (await doctor(home, codex)).findCheck('hooks');
  assert.equal(is, 'fail');
  assert.match(seen, /^Codex: installed, not trusted: run \/hooks in Codex/);

  assert.equal((await hivebar(['session', 'set', 'cy', '--cwd', project]))[0], 0);
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, codex, [client.program]);
  await trustCodexHooks(terminals, 'one');
  await waitForCodex(terminals, 'one');
  assert.deepEqual(await verdicts(), ['trusted']);
  assert.equal((await status())[0], 0);
  assert.equal((await hivebar(['inbox', 'push', '--to', 'cy', '--type', 'event', 'MAIL FOR CY']))[0], 0);
  await terminals.say('one', 'Go on');
  await until(
    () => `the mail is in the prompt:\n${terminals.screen('one')}`,
    () => model.asks.some(({ fresh }) => fresh.includes('MAIL FOR CY')),
  );
  await until(
    () => `tools: ${model.asks.at(-1)?.tools}`,
    () => model.asks.some(({ tools }) => tools.includes('mcp__hivebar')),
  );
});
