import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PersonaWire } from '../../app/status/index.ts';
import { agentTerminals, prepareCodex, trustCodexHooks, waitForCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';
import { describeTree } from '../kit/watched-tree.ts';

const run = promisify(execFile);

test('the queue of the real Codex: rows, who runs the thread, what was taken, and nothing of its files changes', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const thinking = Promise.withResolvers<null>();
  await using model = await modelServer(({ fresh }) => (fresh.includes('QUEUED ONE') ? thinking.promise : null));
  const env = prepareCodex(home.home, [project], model.url);
  const outside = { PATH: process.env.PATH, HOME: home.home, LANG: 'C.UTF-8', HTTPS_PROXY: 'http://127.0.0.1:9' };
  const codex = async (...args: readonly string[]): Promise<string> => {
    const running = run(client.program, args, { cwd: project, env: { ...outside, ...env } });
    running.child.stdin?.end();
    return (await running).stdout;
  };
  const output = await codex('exec', '--skip-git-repo-check', '--json', 'hello');
  const thread = /"thread_id":"([0-9a-f-]+)"/.exec(output)?.[1] ?? assert.fail(output);
  for (const text of ['QUEUED ONE', 'QUEUED TWO']) await codex('queue', '--thread', thread, '--message', text);

  await using tray = await home.start(['--no-tray', '--no-notifications'], env);
  const id = `codex-${thread.slice(-12)}`;
  const waiting = await tray.persona(id, ({ unread }) => unread === 2);
  assert.deepEqual([waiting.agent, waiting.agentReason, waiting.cwd], ['gone', 'no-reader', project]);

  const config = `${home.home}/.codex`;
  const before = describeTree(config, { ignoreShm: true });
  await tray.post('/api/v1/actions/poll', {});
  await sleep(1500);
  assert.deepEqual(describeTree(config, { ignoreShm: true }), before, 'looking changes nothing');

  await codex('queue', '--thread', thread, '--message', 'QUEUED THREE');
  await tray.persona(id, ({ unread }) => unread === 3);
  const resumed = codex('exec', '--skip-git-repo-check', 'resume', thread, 'go on');
  await tray.persona(id, ({ agent, unread }) => agent === 'live' && unread === 2);
  thinking.resolve(null);
  await resumed;
  const { unread } = await tray.persona(id, ({ agent }) => agent === 'gone');
  // Mail from before the first start is counted and not delivered. What the run took, one row or more, is gone.
  const events = (): readonly string[] =>
    home.events(id).flatMap(({ event, content }) => {
      if (event === 'new') return [`new ${content}`];
      return event === 'gone' ? ['gone'] : [];
    });
  const expected = ['new QUEUED THREE', ...Array<string>(3 - Number(unread)).fill('gone')];
  await until(
    () => `${events().join(', ')} beside ${unread} unread`,
    () => events().length >= expected.length,
  );
  assert.deepEqual(events(), expected);
});

test('the real Codex with our hooks: idle, working, waiting for its person, held at its Stop and let go', async (t) => {
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
    if (fresh.includes('Push it')) return [{ tool: 'exec_command', input: escapes }];
    if (fresh.includes('This stop is held by Hivebar')) return answered.promise;
    return null;
  });
  const env = { ...prepareCodex(home.home, [project], model.url), HIVEBAR_HOME: home.dir };
  const hivebar = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
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
});
