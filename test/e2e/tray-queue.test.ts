import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { done, noPython, startWriter } from '../kit/queue-writers.ts';
import { needs } from '../kit/require.ts';
import { scratch } from '../kit/scratch.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

test('given a session that works in a folder, when a foreign writer appends to its queue there, then the persona is told', async (t) => {
  if (needs(t, noPython)) return;
  using home = trayHome();
  using folder = scratch();
  const set = await home.run(['session', 'set', 'ada', '--id', 'S-1', '--cwd', folder.dir, '--pid', `${process.pid}`]);
  assert.equal(set.code, 0, set.stderr);
  const path = folder.at('.runtime', 'inject-queue', 'S-1.jsonl');
  mkdirSync(folder.at('.runtime', 'inject-queue'), { recursive: true });
  await using tray = await home.start();
  await done(startWriter(null, { path, name: 'late', count: 3 }));
  await tray.persona('ada', ({ unread }) => unread === 3, 60_000);
  await until('its event file has them', () => home.mail('ada').length === 3, 60_000);
  assert.equal(statSync(path).size, 0);
  const drained = await home.run(['inbox', 'drain', 'ada', '--json']);
  const { items } = JSON.parse(drained.stdout) as { items: readonly { content: string }[] };
  assert.deepEqual(
    items.map(({ content }) => content),
    ['late 0', 'late 1', 'late 2'],
  );
});

test('inbox-gates 8.10c: given lines of a session that nobody announced, then they stay and the log says so once', async () => {
  using home = trayHome();
  mkdirSync(home.at('inject-queue'), { recursive: true, mode: 0o700 });
  const path = home.at('inject-queue', 'gone.jsonl');
  writeFileSync(path, '{"content":"x"}\n');
  await using tray = await home.start();
  await until('it is said', () => tray.log.some((line) => line.includes('gone.jsonl')), 60_000);
  assert.equal(readFileSync(path, 'utf8'), '{"content":"x"}\n');
});
