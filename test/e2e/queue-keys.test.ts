import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** Queue files and pushes that name the same message, by the real program. */
const findQueue = (home: TrayHome, session: string): string => home.at('inject-queue', `${session}.jsonl`);

function queue(home: TrayHome, session: string, ...lines: readonly object[]): void {
  const path = findQueue(home, session);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
}

async function announced(): Promise<TrayHome> {
  const home = trayHome();
  for (const name of ['ada', 'bo']) {
    const { code, stderr } = await home.run(['session', 'set', name, '--id', `of-${name}`, '--pid', `${process.pid}`]);
    assert.equal(code, 0, stderr);
  }
  return home;
}

interface QueueItem {
  readonly content: string;
  readonly priority: number;
  readonly source: string;
}

async function drained(home: TrayHome, persona: string): Promise<readonly QueueItem[]> {
  const { stdout, stderr } = await home.run(['inbox', 'drain', persona, '--json']);
  assert.equal(stderr, '');
  return stdout === '' ? [] : (JSON.parse(stdout) as { items: readonly QueueItem[] }).items;
}

const texts = (items: readonly QueueItem[]): readonly string[] => items.map(({ content }) => content);

test('seed 6: of a message that was pushed and is queued, what was pushed is shown', async () => {
  using home = await announced();
  await home.run([
    'inbox',
    'push',
    '--to',
    'ada',
    '--source',
    'store',
    '--priority',
    '1',
    '--dedup-key',
    'k',
    'stored',
  ]);
  queue(home, 'of-ada', { content: 'queued', source: 'queue', priority: 4, dedup_key: 'k' });
  assert.deepEqual(
    (await drained(home, 'ada')).map(({ content, source, priority }) => [content, source, priority]),
    [['stored', 'store', 1]],
  );
  assert.deepEqual(await drained(home, 'ada'), []);
});

test('seed 7: lines without a key are each a message, however alike', async () => {
  using home = await announced();
  const line = { type: 'mail', content: 'again', timestamp: Date.now() };
  queue(home, 'of-ada', line, line, { ...line, dedup_key: '' });
  assert.deepEqual(texts(await drained(home, 'ada')), ['again', 'again', 'again']);
  queue(home, 'of-ada', line);
  assert.deepEqual(texts(await drained(home, 'ada')), ['again']);
});

test('seed 10: what is over already is taken without a word, and not shown', async () => {
  using home = await announced();
  queue(home, 'of-ada', { content: 'over', timestamp: Date.now() - 60_000, ttl_seconds: 5 });
  queue(home, 'of-ada', { content: 'not yet', timestamp: Date.now() - 60_000, ttl_seconds: 3600 });
  assert.deepEqual(texts(await drained(home, 'ada')), ['not yet']);
  assert.deepEqual(await drained(home, 'ada'), []);
});

for (const how of ['a drain', 'the tray process'] as const) {
  test(`seed 5: one line in the queue of each agent reaches each, once, taken over by ${how}`, async () => {
    using home = await announced();
    const line = { type: 'event', source: 'ci', content: 'run 42 failed', dedup_key: 'ci-run-42' };
    const take = async (): Promise<void> => {
      if (how === 'a drain') return;
      await using _ = await home.start(['--no-tray', '--no-notifications']);
      const isAccepted = (session: string): boolean => statSync(findQueue(home, session)).size === 0;
      await until('both queues are empty', () => isAccepted('of-ada') && isAccepted('of-bo'), 60_000);
    };
    queue(home, 'of-ada', line, line);
    queue(home, 'of-bo', line);
    await take();
    for (const name of ['ada', 'bo']) assert.deepEqual(texts(await drained(home, name)), ['run 42 failed'], name);
    queue(home, 'of-bo', line);
    queue(home, 'of-ada', line);
    await take();
    for (const name of ['ada', 'bo']) assert.deepEqual(await drained(home, name), [], name);
  });
}
