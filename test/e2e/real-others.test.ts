import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { modelServer } from '../kit/model-server.ts';
import { runCli } from '../kit/process.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';

interface OtherProgram {
  readonly label: string;
  /** What it needs to ask the model at `url` and nobody else. */
  env(url: string): Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** Its settings, where it needs some. */
  readonly settings?: readonly [path: string, content: object];
  /** A tool of it, and what it is called with. */
  readonly tool: string;
}

const PROMPT = 'Write the note';
const PROGRAMS = {
  gemini: {
    label: 'Gemini CLI',
    env: (url) => ({ GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    args: ['-m', 'gemini-2.5-flash', '-y', '-p', PROMPT],
    settings: [
      '.gemini/settings.json',
      { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } },
    ],
    tool: 'run_shell_command',
  },
  qwen: {
    label: 'Qwen Code',
    env: (url) => ({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' }),
    args: ['--auth-type', 'openai', '-y', '-p', PROMPT],
    settings: ['.qwen/settings.json', { privacy: { usageStatisticsEnabled: false } }],
    tool: 'run_shell_command',
  },
  copilot: {
    label: 'Copilot CLI',
    env: (url) => ({
      ...{ COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false', COPILOT_MODEL: 'claude-sonnet-4.5' },
      ...{ COPILOT_PROVIDER_BASE_URL: url, COPILOT_PROVIDER_TYPE: 'anthropic', COPILOT_PROVIDER_API_KEY: 'x' },
    }),
    args: ['--allow-all-tools', '-p', PROMPT],
    tool: 'bash',
  },
} as const satisfies Readonly<Record<string, OtherProgram>>;

const WITHIN_MS = 180_000;

/** One run without a terminal. Whatever it asks beside the model goes through the model's proxy, which leads nowhere else. */
async function runAgent(
  file: string,
  program: OtherProgram,
  url: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly code: unknown; readonly output: string }> {
  const nowhere = { HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: '127.0.0.1,localhost' };
  const [command, first] = file.endsWith('.js') ? [process.execPath, [file]] : [file, []];
  const agent = spawn(command, [...first, ...program.args], {
    cwd,
    env: { ...env, ...nowhere, ...program.env(url), PATH: process.env.PATH ?? '', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [agent.stdout, agent.stderr]) stream.on('data', (bytes) => (output += bytes));
  const code = await new Promise((resolve) => agent.on('close', resolve));
  return { code, output };
}

for (const name of Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]) {
  const program: OtherProgram = PROGRAMS[name];
  test(`the real ${program.label} with our hooks: shown mail once, held at its stop by a gate, and let go`, async (t) => {
    const client = realClient(name);
    if ('missing' in client) return void needs(t, client.missing);
    using home = trayHome({ primary: { is: 'local' } });
    const project = `${home.home}/project`;
    mkdirSync(project);
    const command = { command: 'echo hello', description: 'say hello', is_background: false, mode: 'sync' };
    await using model = await modelServer(({ fresh }) =>
      fresh.includes(PROMPT) ? [{ tool: program.tool, input: command }] : null,
    );
    const env = { ...home.env, HOME: home.home };
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
    await run('hook', 'status', '--harness', name);
    await run('inbox', 'push', '--to', 'ada', '--type', 'event', 'MAIL FOR ADA');
    const gate = ['--persona', 'ada', '--hook', 'Stop', '--mode', 'strict', '--description', 'run the tests'];
    await run('gate', 'register', 'tests', ...gate, '--ttl', '1h');

    const { code, output } = await runAgent(client.program, program, model.url, { cwd: project, env });
    assert.equal(code, 0, output);
    const counted = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
    assert.equal(counted('MAIL FOR ADA'), 1, output);
    const holds = counted('This stop is held by Hivebar: tests: run the tests');
    assert.ok(holds >= 1 && holds <= 3, `${holds} holds\n${output}`);
    const pending = await home.run(['inbox', 'list', 'ada', '--pending', '--json'], { env });
    assert.deepEqual([pending.code, pending.stdout.includes('MAIL FOR ADA')], [0, false], pending.stderr);
  });
}

test('the real Copilot CLI runs hooks of a project that are installed for Claude Code: it is shown nothing, and nothing counts as shown', async (t) => {
  const client = realClient('copilot');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome({ primary: { is: 'local' } });
  const project = `${home.home}/project`;
  mkdirSync(`${project}/.claude`, { recursive: true });
  spawnSync('git', ['init', '-q', project]);
  const mark = `${home.home}/mark`;
  const counted = { hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: `echo ran >> '${mark}'` }] }] } };
  writeFileSync(`${project}/.claude/settings.json`, JSON.stringify(counted));
  await using model = await modelServer(() => null);
  const env = { ...home.env, HOME: home.home };
  const install = ['hook', 'install', '--harness', 'claude', '--project', '--persona', 'ada'];
  assert.equal((await runCli(install, { env, cwd: project })).code, 0);
  await home.run(['inbox', 'push', '--to', 'ada', '--type', 'event', 'MAIL FOR ADA'], { env });
  const { code, output } = await runAgent(client.program, PROGRAMS.copilot, model.url, {
    cwd: project,
    env: { ...env, GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS: 'true' },
  });
  assert.equal(code, 0, output);
  assert.equal(readFileSync(mark, 'utf8'), 'ran\n', 'it does run the hooks of this folder');
  assert.ok(model.asks.every(({ fresh }) => !fresh.includes('MAIL FOR ADA')));
  const pending = await home.run(['inbox', 'list', 'ada', '--pending', '--json'], { env });
  assert.match(pending.stdout, /MAIL FOR ADA/);
  assert.equal(existsSync(home.at('run', 'agents')), false, 'no report of what an agent does');
});
