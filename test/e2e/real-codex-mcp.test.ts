import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { prepareCodex } from '../kit/agent-terminal.ts';
import { commandLine } from '../kit/command-line.ts';
import { modelServer } from '../kit/model-server.ts';
import { programEntry } from '../kit/program.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';

const WITHIN_MS = 120_000;

test('the real Codex reads mail with the tools of hivebar mcp, as the persona that announced its thread', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const assignments = Object.entries(home.env).map(([key, value]) => `${key}='${value}'`);
  const announce = `${assignments.join(' ')} ${process.execPath} ${programEntry('hivebar')} session set ada --cwd /usr`;
  await using model = await modelServer(({ fresh, tools }) => {
    if (fresh.includes('PLEASE REVIEW')) return null;
    // Codex begins a turn while its servers start. The command that it runs knows the thread.
    if (!fresh.includes('ada: session') || !tools.includes('mcp__hivebar'))
      return [{ tool: 'exec_command', input: { cmd: announce } }];
    return [{ namespace: 'mcp__hivebar', tool: 'inbox_read', input: {} }];
  });
  const env = { ...prepareCodex(home.home, [project], model.url), HOME: home.home };
  const lines = [
    '[mcp_servers.hivebar]',
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify([programEntry('hivebar'), 'mcp'])}`,
    '[mcp_servers.hivebar.env]',
    ...Object.entries(home.env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
  ];
  appendFileSync(`${home.home}/.codex/config.toml`, `\n${lines.join('\n')}\n`);
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await commandLine(args, home.env);
    assert.equal(code, 0, err);
    return out;
  };
  await run('send', '--to', 'ada', '--from', 'bo', 'PLEASE REVIEW');
  await runToEnd(client.program, ['exec', '--skip-git-repo-check', 'Check your mail'], project, env);
  assert.ok(model.asks.some(({ fresh }) => fresh.includes('PLEASE REVIEW')));
  assert.equal(await run('inbox', 'list', 'ada', '--pending'), 'ada has no pending items\n');
});

/** Runs a program without a terminal. @throws with what it wrote when it fails */
async function runToEnd(program: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(program, [...args], {
    ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: WITHIN_MS },
    env: { ...env, PATH: process.env.PATH, HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' },
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      written += chunk.toString('utf8');
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0, written);
}
