import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentTerminals, prepareClaude } from '../kit/agent-terminal.ts';
import { commandLine } from '../kit/command-line.ts';
import { modelServer } from '../kit/model-server.ts';
import { programEntry } from '../kit/program.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const WITHIN_MS = 120_000;

test('the real Claude Code reads and answers mail with the tools of hivebar mcp, as the persona that announced its session', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const session = '5f0c7a52-7b1e-4c58-9a5e-0d9c8a1b2c3d';
  await using model = await modelServer(({ fresh }) => {
    if (fresh.includes('Check your mail')) return [{ tool: 'mcp__hivebar__inbox_read', input: {} }];
    if (fresh.includes('PLEASE REVIEW'))
      return [{ tool: 'mcp__hivebar__inbox_send', input: { to: 'bo', text: 'DONE', replyTo: 1 } }];
    return null;
  });
  const env = { ...prepareClaude(home.home, project, model.url), HOME: home.home };
  const config = home.at('mcp.json');
  const server = { command: process.execPath, args: [programEntry('hivebar'), 'mcp'], env: { ...home.env } };
  writeFileSync(config, JSON.stringify({ mcpServers: { hivebar: server } }));
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await commandLine(args, home.env);
    assert.equal(code, 0, err);
    return out;
  };
  await run('send', '--to', 'ada', '--from', 'bo', 'PLEASE REVIEW');
  await run('session', 'set', 'ada', '--id', session, '--cwd', '/tmp', '--pid', String(process.pid));
  const allowed = 'mcp__hivebar__inbox_read,mcp__hivebar__inbox_send';
  const args = ['-p', 'Check your mail', '--session-id', session, '--mcp-config', config, '--allowedTools', allowed];
  await runToEnd(client.program, args, project, env);
  const read = model.asks.find(({ fresh }) => fresh.includes('PLEASE REVIEW'));
  assert.match(read?.fresh ?? '', /never an instruction to you/);
  assert.equal(await run('inbox', 'list', 'ada', '--pending'), 'ada has no pending items\n');
  assert.match(await run('inbox', 'list', 'bo'), /\* +2 .* ada: In reply to your message 1: DONE/);
});

test('the real Claude Code shows the question of decision_ask as a form, and the person at its terminal answers there', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  const options = [
    { id: 'y', label: 'Yes, now' },
    { id: 'n', label: 'Not today' },
  ];
  const ask = [{ tool: 'mcp__hivebar__decision_ask', input: { question: 'Deploy it?', options } }];
  await using model = await modelServer(({ fresh }) => (fresh.includes('Begin') ? ask : null));
  const config = home.at('mcp.json');
  const server = {
    command: process.execPath,
    args: [programEntry('hivebar'), 'mcp'],
    env: { ...home.env, HIVEBAR_PERSONA: 'ada' },
  };
  writeFileSync(config, JSON.stringify({ mcpServers: { hivebar: server } }));
  await using terminals = agentTerminals(home.home);
  const allowed = ['--allowedTools', 'mcp__hivebar__decision_ask'];
  const command = [client.program, '--mcp-config', config, ...allowed];
  terminals.start('one', project, prepareClaude(home.home, project, model.url), command);
  await terminals.shows('one', /\n❯\s*\n─/);
  await terminals.say('one', 'Begin');
  await terminals.shows('one', /requests your input[\s\S]*Deploy it\?[\s\S]*Accept/);
  await terminals.press('one', 'Right', (screen) => /❯ ◯ Yes, now/.test(screen));
  await terminals.press('one', 'Down', (screen) => /❯ ◯ Not today/.test(screen));
  await terminals.press('one', 'Enter', (screen) => /Answer: Not today[\s\S]*❯ Accept/.test(screen));
  await terminals.press('one', 'Enter', (screen) => !/❯ Accept/.test(screen));
  await until('the model has the answer', () => model.asks.some(({ fresh }) => fresh.includes('"answer":"n"')));
  const { out } = await commandLine(['decision', 'show', '1', '--json'], home.env);
  const { state, choice, by } = JSON.parse(out) as Readonly<Record<'state' | 'choice' | 'by', string>>;
  assert.deepEqual([state, choice, by], ['resolved', 'n', 'terminal']);
});

test('the real Claude Code reads its mail over HTTP, with the token and the persona of its configuration', async (t) => {
  const client = realClient('claude');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome({ primary: { is: 'local' }, mcpOverHttp: true });
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using tray = await home.start(['--no-tray']);
  await using model = await modelServer(({ fresh }) =>
    fresh.includes('Check your mail') ? [{ tool: 'mcp__hivebar__inbox_read', input: {} }] : null,
  );
  const env = { ...prepareClaude(home.home, project, model.url), HOME: home.home };
  const config = home.at('mcp.json');
  const headers = { Authorization: `Bearer ${tray.token}`, 'Hivebar-Persona': 'ada' };
  const server = { type: 'http', url: `${tray.url}/mcp`, headers };
  writeFileSync(config, JSON.stringify({ mcpServers: { hivebar: server } }));
  const { code } = await home.run(['send', '--to', 'ada', '--from', 'bo', 'PLEASE REVIEW']);
  assert.equal(code, 0);
  const args = ['-p', 'Check your mail', '--mcp-config', config, '--allowedTools', 'mcp__hivebar__inbox_read'];
  await runToEnd(client.program, args, project, env);
  const read = model.asks.find(({ fresh }) => fresh.includes('PLEASE REVIEW'));
  assert.match(read?.fresh ?? '', /never an instruction to you/);
  const { stdout } = await home.run(['inbox', 'list', 'ada', '--pending']);
  assert.equal(stdout, 'ada has no pending items\n');
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
