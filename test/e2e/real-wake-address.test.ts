import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { readActivity } from '../../app/hook/index.ts';
import { prepareClaude } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** An agent program that another program runs, over stdin and stdout. */
interface DrivenProgram {
  readonly label: string;
  env(home: string, project: string, url: string): Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly settings?: readonly [path: string, content: object];
  /** Lines of JSON in, and lines of JSON out: one object for each prompt, or the Agent Client Protocol. */
  readonly speaks: 'stream' | 'acp';
}

const STREAM = ['--input-format', 'stream-json', '--output-format', 'stream-json'];

/** Copilot CLI is none of them: run so, it reports the end of its session after each prompt. */
const PROGRAMS = {
  claude: {
    label: 'Claude Code',
    env: prepareClaude,
    args: ['-p', '--verbose', ...STREAM],
    speaks: 'stream',
  },
  qwen: {
    label: 'Qwen Code',
    env: (_home, _project, url) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' }),
    args: ['--auth-type', 'openai', '-y', ...STREAM],
    settings: ['.qwen/settings.json', { privacy: { usageStatisticsEnabled: false } }],
    speaks: 'stream',
  },
  gemini: {
    label: 'Gemini CLI',
    env: (_home, _project, url) => ({
      ...{ GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    }),
    args: ['-m', 'gemini-2.5-flash', '-y', '--acp'],
    settings: [
      '.gemini/settings.json',
      { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } },
    ],
    speaks: 'acp',
  },
} as const satisfies Readonly<Record<string, DrivenProgram>>;

for (const name of Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]) {
  const program: DrivenProgram = PROGRAMS[name];
  test(`the real ${program.label}, idle, begins a turn when the program that runs it is called at its wake address`, async (t) => {
    const client = realClient(name);
    if ('missing' in client) return void needs(t, client.missing);
    using home = trayHome({ primary: { is: 'local' }, nudge: { waiter: false, socket: false } });
    const project = `${home.home}/project`;
    mkdirSync(project);
    await using model = await modelServer(() => null);
    const env = { ...home.env, ...program.env(home.home, project, model.url) };
    const run = async (...args: readonly string[]): Promise<void> => {
      const { code, stderr } = await home.run(args, { env });
      assert.equal(code, 0, stderr);
    };
    const [settingsPath, settings] = program.settings ?? [];
    if (settingsPath !== undefined) {
      mkdirSync(dirname(join(home.home, settingsPath)), { recursive: true });
      writeFileSync(join(home.home, settingsPath), JSON.stringify(settings));
    }
    await run('hook', 'install', '--harness', name, '--persona', 'ada');
    await using _tray = await home.start(['--no-tray', '--no-notifications'], env);

    const nowhere = { HTTPS_PROXY: model.url, HTTP_PROXY: model.url, NO_PROXY: '127.0.0.1,localhost' };
    const isScript = client.program.endsWith('.js');
    const [file, first] = isScript ? [process.execPath, [client.program]] : [client.program, []];
    const child = spawn(file, [...first, ...program.args], {
      cwd: project,
      env: { ...env, ...nowhere, PATH: process.env.PATH ?? '', LANG: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await using driven = drive(child, program.speaks, project);
    await using address = await listenForWakes((message) => driven.prompt(message));
    await run('session', 'set', 'ada', '--wake', address.url);
    const count = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
    const isAsked = (text: string): Promise<void> =>
      until(
        () => `${text}:\n${driven.output}`,
        () => count(text) > 0,
      );

    driven.prompt('Hello');
    await isAsked('Hello');
    await until(
      () => `it rests:\n${driven.output}`,
      () => readActivity(home.at('run'), 'ada')?.moment === 'Stop',
    );
    await run('send', '--to', 'ada', '--from', 'bo', 'MAIL FOR ADA');
    await isAsked('hivebar: 1 item waits in your inbox');
    assert.deepEqual([count('hivebar: 1 item waits'), count('MAIL FOR ADA'), address.calls], [1, 1, 1]);
  });
}

interface Driven extends AsyncDisposable {
  readonly output: string;
  prompt(text: string): void;
}

/** Runs the program as an editor or an orchestrator does. */
function drive(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  speaks: DrivenProgram['speaks'],
  cwd: string,
): Driven {
  let output = '';
  let id = 0;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes));
  const write = (line: object): void => void child.stdin.write(`${JSON.stringify(line)}\n`);
  const call = async (method: string, params: object): Promise<string> => {
    id += 1;
    const own = id;
    write({ jsonrpc: '2.0', id: own, method, params });
    const find = (): string | undefined =>
      output.split('\n').find((line) => line.startsWith('{') && JSON.parse(line).id === own);
    await until(
      () => `${method}:\n${output}`,
      () => find() !== undefined,
    );
    return find() ?? '';
  };
  const session =
    speaks === 'acp'
      ? (async () => {
          await call('initialize', { protocolVersion: 1, clientCapabilities: {} });
          const { result } = JSON.parse(await call('session/new', { cwd, mcpServers: [] }));
          return String(result?.sessionId);
        })()
      : Promise.resolve('');
  const ended = new Promise((resolve) => child.once('close', resolve));
  return {
    get output() {
      return output;
    },
    prompt(text) {
      if (speaks === 'stream')
        write({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null });
      else
        session
          .then((sessionId) => call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }))
          .catch((error: unknown) => (output += String(error)));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

interface WakeAddress extends AsyncDisposable {
  readonly url: string;
  readonly calls: number;
}

async function listenForWakes(woken: (message: string) => void): Promise<WakeAddress> {
  let calls = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes) => (body += bytes));
    request.on('end', () => {
      calls += 1;
      woken((JSON.parse(body) as { readonly message: string }).message);
      response.end('{"delivered": true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/wake`,
    get calls() {
      return calls;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
