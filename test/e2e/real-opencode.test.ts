import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { agentTerminals, listProcesses } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { runCli } from '../kit/process.ts';
import { programEntry } from '../kit/program.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const WITHIN_MS = 180_000;
const BASH = { command: 'echo hello', description: 'say hello' };

type Answer = Parameters<typeof modelServer>[0];

/** A user of the real OpenCode with our plugin, whose model is on loopback. Null: it cannot be had here. */
async function rig(t: TestContext, answer: Answer, settings: object = {}, scope: readonly string[] = []) {
  const client = realClient('opencode');
  if ('missing' in client) {
    needs(t, client.missing);
    return null;
  }
  const { program } = client;
  const stack = new AsyncDisposableStack();
  const home = stack.use(trayHome());
  const model = stack.use(await modelServer(answer));
  const project = join(home.home, 'project');
  const config = join(home.home, '.config', 'opencode');
  for (const dir of [project, config]) mkdirSync(dir, { recursive: true });
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${model.url}/v1`, apiKey: 'x' },
    models: { m: { name: 'm', limit: { context: 100_000, output: 1000 } } },
  };
  const content = {
    provider: { test: provider },
    model: 'test/m',
    small_model: 'test/m',
    autoupdate: false,
    ...settings,
  };
  writeFileSync(join(config, 'opencode.json'), JSON.stringify(content));
  const env = {
    ...home.env,
    ...{
      PATH: process.env.PATH ?? '',
      LANG: 'C.UTF-8',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
    // Whatever it asks beside the model goes through the model's proxy, which leads nowhere else.
    ...{ HTTPS_PROXY: model.url, HTTP_PROXY: model.url, NO_PROXY: '127.0.0.1,localhost' },
  };
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await home.run(args, { env });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  for (const verb of [['install', '--persona', 'ada'], ['status']]) {
    const args = ['hook', ...verb, '--harness', 'opencode', ...scope];
    const { code, stderr } = await runCli(args, { env, cwd: project });
    assert.equal(code, 0, stderr);
  }
  const dir = home.at('run', 'waiters', 'ada');
  return {
    home,
    model,
    env,
    run,
    program,
    project,
    /** The pipes of waiters, and the notes of their sessions. */
    waiters: (): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []),
    count: (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length,
    start(...args: readonly string[]) {
      const child: ChildProcessByStdio<null, Readable, Readable> = spawn(program, args, {
        ...{ cwd: project, env, timeout: WITHIN_MS, killSignal: 'SIGKILL' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      stack.defer(async () => {
        child.kill('SIGKILL');
        await ended;
        // Of a test that failed: the waiter of a killed server would wait for the next mail.
        const waiters = listProcesses(home.home);
        for (const pid of waiters) process.kill(pid, 'SIGKILL');
      });
      return { child, ended, output: () => output };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('the real OpenCode with our plugin and hivebar mcp: shown mail with a prompt and after tools of both kinds, each once', async (t) => {
  const push = (text: string) => r?.run('inbox', 'push', '--to', 'ada', '--type', 'event', '--priority', '0', text);
  const server = { type: 'local', command: [process.execPath, programEntry('hivebar'), 'mcp'] };
  await using r = await rig(
    t,
    async ({ fresh }) => {
      if (fresh.includes('Say hello')) {
        await push('MAIL MEANWHILE');
        return [{ tool: 'bash', input: BASH }];
      }
      if (!fresh.includes('MAIL MEANWHILE')) return null;
      await push('MAIL AT LAST');
      return [{ tool: 'hivebar_who', input: {} }];
    },
    { mcp: { hivebar: server } },
  );
  if (r === null) return;
  await r.run('inbox', 'push', '--to', 'ada', '--type', 'event', 'MAIL BEFORE');
  const { ended, output } = r.start('run', 'Say hello');
  assert.equal(await ended, 0, output());
  assert.deepEqual(['MAIL BEFORE', 'MAIL MEANWHILE', 'MAIL AT LAST'].map(r.count), [1, 1, 1], output());
  assert.doesNotMatch(await r.run('inbox', 'list', 'ada', '--pending', '--json'), /MAIL/);
});

test('the real OpenCode as a server, idle, begins a turn when mail comes, with the tray closed and open, and waits for its person', async (t) => {
  const thinking = Promise.withResolvers<null>();
  await using r = await rig(
    t,
    ({ fresh }) => {
      if (fresh.includes('Think about it')) return thinking.promise;
      if (fresh.includes('Think again') && !fresh.includes('Go on')) return new Promise(() => {});
      return fresh.includes('Say hello') ? [{ tool: 'bash', input: BASH }] : null;
    },
    { permission: { bash: 'ask' } },
  );
  if (r === null) return;
  const { output } = r.start('serve', '--hostname', '127.0.0.1', '--port', '0');
  const findUrl = (): string => /http:\/\/127\.0\.0\.1:\d+/.exec(output())?.[0] ?? '';
  await until(
    () => `it serves: ${output()}`,
    () => findUrl() !== '',
  );
  const call = async (method: string, path: string, body?: object): Promise<Response> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${findUrl()}${path}`, { method, headers, ...content });
    assert.ok(response.ok, `${method} ${path}: ${response.status}\n${output()}`);
    return response;
  };
  const { id } = (await (await call('POST', '/session', {})).json()) as { readonly id: string };
  const say = (text: string, agent = 'build') =>
    call('POST', `/session/${id}/prompt_async`, { agent, parts: [{ type: 'text', text }] });
  /** The agents whose turns there were, in order. */
  const listAgents = async (): Promise<readonly string[]> => {
    const messages = (await (await call('GET', `/session/${id}/message`)).json()) as readonly {
      readonly info: { readonly role: string; readonly agent: string };
    }[];
    return messages.flatMap(({ info }) => (info.role === 'user' ? [info.agent] : []));
  };

  const isShown = (text: string): Promise<void> =>
    until(
      () => `${text} is shown: ${output()}`,
      () => r.count(text) > 0,
    );
  const isIdle = (): Promise<void> =>
    until(
      () => `it waits: ${r.waiters()} ${output()}`,
      () => r.waiters().some((name) => name.startsWith(`${id}.`)),
    );

  await say('Hello', 'plan');
  await isShown('Hello');
  await isIdle();
  await r.run('send', '--to', 'ada', '--from', 'bo', 'FIRST MAIL');
  await isShown('FIRST MAIL');
  await isIdle();
  assert.deepEqual(await listAgents(), ['plan', 'plan'], 'an agent that may only plan goes on planning');

  await using tray = await r.home.start(['--no-tray', '--no-notifications'], r.env);
  await r.run('send', '--to', 'ada', '--from', 'bo', 'SECOND MAIL');
  await isShown('SECOND MAIL');
  await isIdle();
  await tray.persona('ada', ({ agent }) => agent === 'idle');

  // What comes while it works is shown after it.
  await say('Think about it');
  await isShown('Think about it');
  await r.run('send', '--to', 'ada', '--from', 'bo', 'THIRD MAIL');
  thinking.resolve(null);
  await isShown('THIRD MAIL');
  await isIdle();

  // After an interrupted turn its person is there, so mail waits for their next prompt.
  await say('Think again');
  await isShown('Think again');
  await call('POST', `/session/${id}/abort`);
  await tray.persona('ada', ({ agent }) => agent === 'idle');
  await r.run('send', '--to', 'ada', '--from', 'bo', 'FOURTH MAIL');
  assert.equal(r.count('FOURTH MAIL'), 0);
  assert.deepEqual(
    r.waiters().filter((name) => name.includes('.')),
    [],
  );
  await say('Go on');
  await isShown('FOURTH MAIL');
  await isIdle();

  const wakes = r.model.asks.map(({ fresh }) => /hivebar: \d+ items? waits? in your inbox/.exec(fresh)?.[0] ?? null);
  assert.deepEqual(
    wakes.filter((words) => words !== null),
    Array.from({ length: 3 }, () => 'hivebar: 1 item waits in your inbox'),
    'each once, and none for nothing',
  );
  assert.deepEqual(['FIRST MAIL', 'SECOND MAIL', 'THIRD MAIL', 'FOURTH MAIL'].map(r.count), [1, 1, 1, 1]);

  await say('Say hello');
  await tray.persona('ada', ({ agent, agentReason }) => agent === 'waiting' && agentReason === 'permission');
  const [asked] = (await (await call('GET', '/permission')).json()) as readonly { readonly id: string }[];
  await call('POST', `/permission/${asked?.id}/reply`, { reply: 'once' });
  await isIdle();
  await tray.persona('ada', ({ agent }) => agent === 'idle');

  await call('DELETE', `/session/${id}`);
  await until(
    () => `nothing waits: ${r.waiters()}`,
    () => r.waiters().length === 0,
  );
});

test('the real OpenCode in a terminal, with the plugin of its project, idle, begins a turn when mail comes, and leaves no waiter', async (t) => {
  await using r = await rig(t, () => null, {}, ['--project']);
  if (r === null) return;
  assert.deepEqual(readdirSync(join(r.project, '.opencode', 'plugins')), ['hivebar.js']);
  if (needs(t, spawnSync('tmux', ['-V']).status === 0 ? null : 'tmux is missing: apt-get install tmux')) return;
  await using terminals = agentTerminals(r.home.home);
  terminals.start('one', r.project, r.env, [r.program]);
  const isWaiting = (): boolean => r.waiters().some((name) => name.includes('.'));
  const sees = (goal: string, happened: () => boolean): Promise<void> =>
    until(() => `${goal}: ${r.waiters()}\n${terminals.screen('one')}`, happened);
  await terminals.shows('one', /Ask anything/);
  await terminals.say('one', 'Hello');
  await sees('it is asked', () => r.count('Hello') > 0);
  await sees('it waits', isWaiting);
  await r.run('send', '--to', 'ada', '--from', 'bo', 'FIRST MAIL');
  await sees('the mail', () => r.count('FIRST MAIL') > 0);
  await sees('it waits again', isWaiting);
  assert.doesNotMatch(terminals.screen('one'), /FIRST MAIL/, 'its person sees the sentence and no mail');
  terminals.key('one', 'C-c');
  await sees('nothing waits', () => !isWaiting());
});
