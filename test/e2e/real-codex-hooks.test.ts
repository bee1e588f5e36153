import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { PersonaWire } from '../../app/status/index.ts';
import { agentTerminals, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const WITHIN_MS = 60_000;

test('the real Codex with our hooks: idle, working, waiting for its person, held at its Stop and let go, broken off, and over', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const escapes = { cmd: `touch ${home.home}/X`, sandbox_permissions: 'require_escalated', justification: 'Push?' };
  const thinking = Promise.withResolvers<null>();
  const answered = Promise.withResolvers<null>();
  await using model = await modelServer(({ fresh }) => {
    if (fresh.includes('Think about it')) return thinking.promise;
    if (fresh.includes('Think again')) return new Promise(() => {});
    if (fresh.includes('Push it')) return [{ tool: 'exec_command', input: escapes }];
    if (fresh.includes('This stop is held by Hivebar')) return answered.promise;
    return null;
  });
  const env = { ...prepareCodex(home.home, [project], model.url), HIVEBAR_HOME: home.dir };
  const hivebar = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env });
    assert.equal(code, args.includes('install') ? 1 : 0, stderr); // hooks that nobody trusted yet
    return stdout;
  };
  await hivebar('hook', 'install', '--harness', 'codex', '--persona', 'cy');
  await using tray = await home.start(['--no-tray', '--no-notifications'], env);
  await hivebar('inbox', 'push', '--to', 'cy', '--type', 'event', 'MAIL FOR CY');
  await using terminals = agentTerminals(home.home);
  terminals.start('one', project, env, [client.program]);
  await trustCodexHooks(terminals, 'one');
  await waitForCodex(terminals, 'one');
  const is = (state: PersonaWire['agent']): Promise<PersonaWire> => tray.persona('cy', ({ agent }) => agent === state);
  const askedWith = (text: string) => model.asks.find(({ fresh }) => fresh.includes(text))?.fresh ?? null;

  await terminals.say('one', 'Think about it');
  await until('the model is asked', () => askedWith('Think about it') !== null);
  assert.match(askedWith('Think about it') ?? '', /MAIL FOR CY/, 'injected with the prompt');
  assert.equal((await is('working')).cwd, project);
  thinking.resolve(null);
  await is('idle');

  await terminals.say('one', 'Push it');
  await terminals.shows('one', /Push\?/);
  assert.equal((await is('waiting')).agentReason, 'permission');
  const created = await hivebar('decision', 'create', '--as', 'cy', '--option', 'a=the long way', 'Which way?');
  const decision = /^decision (\d+) /.exec(created)?.[1] ?? '';
  terminals.key('one', 'y'); // a person says yes
  await until('the Stop is held', () => askedWith('This stop is held by Hivebar') !== null);
  assert.match(askedWith('This stop is held by Hivebar') ?? '', /Which way\?.*is not answered/s);
  await is('working');
  await hivebar('decision', 'respond', decision, '--select', 'a');
  answered.resolve(null);
  await is('idle');

  // Its person breaks off a turn.
  await terminals.say('one', 'Think again');
  await is('working');
  terminals.key('one', 'Escape');
  await is('idle');

  // A thread that is over says so. That of a terminal is over when its server lets go of it, some time after the terminal.
  const exec = spawn(client.program, ['exec', '--skip-git-repo-check', 'Be short'], {
    ...{ cwd: project, stdio: 'ignore', timeout: WITHIN_MS },
    env: { PATH: process.env.PATH ?? '', HOME: home.home, ...env },
  });
  assert.deepEqual(await once(exec, 'exit'), [0, null]);
  const reports = readdirSync(home.at('run', 'agents')).map((name) =>
    readFileSync(home.at('run', 'agents', name), 'utf8'),
  );
  assert.deepEqual(reports.map((text) => (JSON.parse(text) as { readonly is: string }).is).toSorted(), [
    'gone',
    'idle',
  ]);
});
