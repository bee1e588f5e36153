import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { prepareClaude, prepareCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { startCli } from '../kit/process.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

const run = promisify(execFile);
const SESSION = '5f0c7a52-7b1e-4c58-9a5e-0d9c8a1b2c3d';

/** An agent program without a terminal: how its session begins, and how a turn of it is started. */
interface BatchProgram {
  readonly name: 'claude' | 'codex';
  env(home: string, project: string, url: string): Readonly<Record<string, string>>;
  readonly begin: readonly string[];
  /** Finds the session in what it printed. */
  findSession(output: string): string | undefined;
  resume(session: string): readonly string[];
}

const CLAUDE: BatchProgram = {
  name: 'claude',
  env: prepareClaude,
  begin: ['-p', 'Hello', '--session-id', SESSION],
  findSession: () => SESSION,
  resume: (session) => ['-p', '--resume', session],
};

const CODEX: BatchProgram = {
  name: 'codex',
  env: (home, project, url) => prepareCodex(home, [project], url),
  begin: ['exec', '--json', '--skip-git-repo-check', 'Hello'],
  findSession: (output) => /"thread_id":"([0-9a-f-]{36})"/.exec(output)?.[1],
  resume: (session) => ['exec', '--skip-git-repo-check', 'resume', session, '-'],
};

test('the real Claude Code has a turn of its session for each batch of mail, which hivebar follow starts', (t) =>
  followWith(t, CLAUDE));

test('the real Codex has a turn of its session for each batch of mail, which hivebar follow starts', (t) =>
  followWith(t, CODEX));

async function followWith(t: TestContext, program: BatchProgram): Promise<void> {
  const client = realClient(program.name);
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome();
  const project = `${home.home}/project`;
  mkdirSync(project);
  await using model = await modelServer(() => null);
  const outside = { PATH: process.env.PATH ?? '', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1,localhost' };
  const env = { ...home.env, ...outside, ...program.env(home.home, project, model.url) };
  const beginning = run(client.program, [...program.begin], { cwd: project, env });
  beginning.child.stdin?.end();
  const { stdout } = await beginning;
  const session = program.findSession(stdout);
  assert.ok(session !== undefined, stdout);
  await using _tray = await home.start(['--no-tray', '--no-notifications']);
  const turn = [client.program, ...program.resume(session)];
  await using follower = startCli(['follow', 'ada', '--harness', program.name, '--', ...turn], { env, cwd: project });
  const count = (text: string): number => model.asks.filter(({ fresh }) => fresh.includes(text)).length;
  for (const mail of ['FIRST MAIL', 'SECOND MAIL']) {
    await home.run(['send', '--to', 'ada', '--from', 'bo', mail]);
    await until(`${mail} is a turn`, () => count(mail) > 0);
  }
  assert.deepEqual([count('Hello'), count('FIRST MAIL'), count('SECOND MAIL')], [1, 1, 1]);
  assert.equal(new Set(model.asks.map(({ first }) => first)).size, 1, 'all in one session');
  assert.deepEqual(await follower.stop(), { code: 0, signal: null });
}
