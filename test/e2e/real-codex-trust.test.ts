import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentTerminals, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { listCodexHooks } from '../kit/codex-app-server.ts';
import { trustAll } from '../kit/hooks.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

test('hook status says of trust what the real Codex says: not trusted, trusted, trusted with another persona and place, modified', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = join(home.home, 'project');
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const codex = prepareCodex(home.home, [project], model.url);
  const settings = join(home.home, '.codex', 'hooks.json');
  const hivebar = async (args: readonly string[], state = home.dir) => {
    const { code, stdout } = await home.run(args, { env: { ...codex, HIVEBAR_HOME: state } });
    return [code, stdout] as const;
  };
  const install = (persona: string, state?: string) =>
    hivebar(['hook', 'install', '--harness', 'codex', '--persona', persona], state);
  const status = (state?: string) => hivebar(['hook', 'status', '--harness', 'codex'], state);
  const env = { PATH: process.env.PATH ?? '', HOME: home.home, ...codex };
  const seenByCodex = () => listCodexHooks(client.program, env, project);
  const verdicts = async () => [...new Set((await seenByCodex()).map(({ trustStatus }) => trustStatus))];

  const [code, output] = await install('cy');
  assert.equal(code, 1);
  assert.match(output, /installed, not trusted: run \/hooks in Codex/);
  assert.equal((await status())[0], 1);
  const hooks = await seenByCodex();
  assert.deepEqual([...new Set(hooks.map(({ trustStatus }) => trustStatus))], ['untrusted']);
  // What is computed here is what Codex computes: no entry of ours is missing or different.
  const computed = trustAll(settings);
  for (const { key, currentHash } of hooks)
    assert.ok(computed.includes(`[hooks.state."${key}"]\ntrusted_hash = "${currentHash}"\n`), `${key} ${currentHash}`);
  assert.equal(hooks.length, computed.split('trusted_hash').length - 1);

  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, codex, [client.program]);
  await trustCodexHooks(terminals, 'one');
  await waitForCodex(terminals, 'one');
  assert.deepEqual(await verdicts(), ['trusted']);
  assert.equal((await status())[0], 0);

  // Another persona and another place keep the trust, and the hooks run for the new persona.
  for (const state of [home.dir, join(home.home, 'elsewhere')]) {
    assert.deepEqual(await install('bo', state), [
      0,
      `Codex: installed for bo in ${settings}\n  restart running sessions if they do not use the hooks; the previous settings are in *.before-hivebar\n`,
    ]);
    assert.deepEqual(await verdicts(), ['trusted']);
    assert.equal((await status(state))[0], 0);
    const pushed = ['inbox', 'push', '--to', 'bo', '--type', 'event', `MAIL IN ${state}`];
    assert.equal((await hivebar(pushed, state))[0], 0);
    await terminals.say('one', `Go on in ${state}`);
    await until('the mail is in the prompt', () => model.asks.some(({ fresh }) => fresh.includes(`MAIL IN ${state}`)));
  }

  const text = readFileSync(settings, 'utf8');
  writeFileSync(settings, text.replace('"timeout": 10', '"timeout": 11'));
  assert.deepEqual((await verdicts()).toSorted(), ['modified', 'trusted']);
});
