import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import type { PermissionWire } from '../../app/status/wire.ts';
import { agentTerminals, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

test('a permission prompt of the real Codex is answered in Hivebar: an allow runs the command, a denial runs nothing, else its dialog comes', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome({ primary: { is: 'local' }, answerPermissions: true });
  const project = `${home.home}/project`;
  mkdirSync(project);
  const path = (name: string): string => `${home.home}/${name}`;
  await using model = await modelServer(({ fresh }) => {
    const [, name = ''] = /Make the file (\w+)/.exec(fresh) ?? [];
    const escalated = { sandbox_permissions: 'require_escalated', justification: `Make ${name}?` };
    return name === '' ? null : [{ tool: 'exec_command', input: { cmd: `touch ${path(name)}`, ...escalated } }];
  });
  const env = { ...prepareCodex(home.home, [project], model.url), HIVEBAR_HOME: home.dir };
  const { stdout, stderr } = await home.run(['hook', 'install', '--harness', 'codex', '--persona', 'cy'], { env });
  assert.match(stdout, /trust/, stderr); // which its user does below
  await home.run(['send', '--to', 'cy', '--from', 'me', 'hello']);
  await using tray = await home.start(['--no-tray', '--no-notifications'], env);
  const list = async (): Promise<readonly PermissionWire[]> => {
    const headers = { authorization: `Bearer ${tray.token}` };
    const answer = await fetch(`${tray.url}/api/v1/permissions`, { headers });
    return ((await answer.json()) as { permissions: readonly PermissionWire[] }).permissions;
  };
  /** Answers as soon as it is asked, because Codex waits for seconds only. */
  const answer = async (name: string, choice: 'allow' | 'deny'): Promise<void> => {
    await until(`the prompt of ${name}`, async () => {
      const [prompt] = await list();
      if (prompt === undefined) return false;
      assert.ok(prompt.text.includes(`touch ${path(name)}`), prompt.text);
      await tray.post('/api/v1/actions/permit', { permission: prompt.id, answer: choice, from: 'page' });
      return true;
    });
  };
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await trustCodexHooks(terminals, 'one');
  await waitForCodex(terminals, 'one');

  await terminals.say('one', 'Make the file ALLOWED');
  await answer('ALLOWED', 'allow');
  await until('the command ran', () => existsSync(path('ALLOWED')));
  await terminals.shows('one', /Ask Codex to do anything/);

  await terminals.say('one', 'Make the file DENIED');
  await answer('DENIED', 'deny');
  await until('the model reads the denial', () =>
    model.asks.some(({ fresh }) => fresh.includes('denied this in Hivebar')),
  );
  assert.equal(existsSync(path('DENIED')), false);
  await terminals.shows('one', /Ask Codex to do anything/);

  // Nobody answers in time: its own dialog asks, and a late answer does nothing.
  await terminals.say('one', 'Make the file LATE');
  let late: PermissionWire | undefined;
  await until('the prompt', async () => {
    [late] = await list();
    return late !== undefined;
  });
  await terminals.shows('one', /Would you like to run the following command\?/);
  await until('the prompt left', async () => (await list()).length === 0);
  await assert.rejects(
    tray.post('/api/v1/actions/permit', { permission: late?.id, answer: 'allow' }),
    /this prompt is over/,
  );
  assert.equal(existsSync(path('LATE')), false);
});
