import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listProcesses, prepareCodex } from '../kit/agent-terminal.ts';
import { modelServer } from '../kit/model-server.ts';
import { realClient } from '../kit/real-clients.ts';
import { needs } from '../kit/require.ts';
import { trayHome } from '../kit/tray-process.ts';
import { describeTree } from '../kit/watched-tree.ts';

const WITHIN_MS = 60_000;

test('codex reply: the real Codex stores what a person typed, and codex 1, 2 and 5: what it queues, takes and runs is on the board, and its folder stays as it is', async (t) => {
  const client = realClient('codex');
  if ('missing' in client) return void needs(t, client.missing);
  using home = trayHome({ primary: { is: 'local' }, pollSeconds: 1, codex: { is: 'auto', actions: true } });
  const project = join(home.home, 'ledger');
  const codexHome = join(home.home, '.codex');
  mkdirSync(project);
  const turn = Promise.withResolvers<void>();
  await using model = await modelServer(async ({ fresh }) => {
    if (fresh.includes('Take your time')) await turn.promise;
    return null;
  });
  const env = {
    ...home.env,
    ...prepareCodex(home.home, [project], model.url),
    PATH: process.env.PATH ?? '',
    TERM: 'dumb',
  };
  const codex = async (...args: readonly string[]): Promise<string> => {
    const child = spawn(client.program, args, {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: WITHIN_MS,
    });
    const ended = once(child, 'exit');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.deepEqual(await ended, [0, null], `codex ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const enqueue = (message: string) => codex('queue', '--thread', thread, '--message', message);

  const first = await codex('exec', '--json', '--skip-git-repo-check', 'hello');
  const thread = /"thread_id":"([0-9a-f-]{36})"/.exec(first)?.[1] ?? assert.fail(first);
  await enqueue('please rebase on main');
  const id = `codex-${thread.slice(-12)}`;

  await using tray = await home.start([], { PATH: `${dirname(client.program)}:${env.PATH}` });
  const before = await tray.persona(id, ({ unread }) => unread === 1);
  assert.deepEqual([before.state, before.agent, before.agentReason, before.cwd], ['UP', 'gone', 'no-reader', project]);
  assert.equal(home.mail(id).length, 0, 'it waited before anybody watched');

  await enqueue('second: urgent?');
  await tray.persona(id, ({ unread }) => unread === 2, 5000);
  await tray.until('it is delivered', () => home.mail(id).length === 1);
  const [mail] = home.events(id).filter(({ event }) => event === 'new');
  assert.deepEqual([mail?.content, mail?.source], ['second: urgent?', 'codex-queue']);

  const typed = '--help $(touch x) "third"\nfourth \u2028 line ✓';
  const reply = async (persona: string) => await tray.post('/api/v1/actions/reply', { persona, text: typed });
  assert.deepEqual(await reply(id), {
    result: {
      ...{ persona: id, is: 'stored' },
      says: `stored, not delivered: it lies in the queue of the thread, which nobody runs now (hivebar open ${id})`,
    },
  });
  await tray.persona(id, ({ unread }) => unread === 3, 5000);
  await tray.until('it is delivered', () => home.mail(id).length === 2);
  assert.equal(home.events(id).findLast(({ event }) => event === 'new')?.content, typed, 'as it was typed');

  const tree = describeTree(codexHome);
  await tray.post('/api/v1/actions/poll', {});
  await sleep(2500);
  assert.deepEqual(describeTree(codexHome), tree);

  const running = codex('exec', '--skip-git-repo-check', 'resume', thread, 'Take your time');
  await tray.persona(id, ({ agent }) => agent === 'live', 30_000);
  turn.resolve();
  await running;
  const after = await tray.persona(id, ({ agent }) => agent === 'gone', 30_000);
  assert.ok((after.unread ?? 3) < 3, 'it took the message that waited first');
  await tray.until('what was taken is gone', () => home.events(id).some(({ event }) => event === 'gone'));
  for (const pid of listProcesses(home.home).filter((each) => each !== tray.pid)) process.kill(pid, 'SIGKILL');
});
