import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLineSource, unread } from '../kit/outside-sources.ts';
import { scratch } from '../kit/scratch.ts';
import { trayHome } from '../kit/tray-process.ts';

test('external 11: given 50,000 items in ten answers and kill -9 in between, then each is new once, in order', async () => {
  const ANSWERS = 10;
  const ITEMS = 5000;
  using home = trayHome();
  using place = scratch();
  const pages = Object.fromEntries(
    Array.from({ length: ANSWERS }, (_, n) => {
      const lines = Array.from({ length: ITEMS }, (_, i) => ({ ...unread('ada', `k${n * ITEMS + i}`), content: 'x' }));
      return [n === 0 ? 'null' : `c${n}`, { lines, done: { cursor: `c${n + 1}`, full: true, more: n + 1 < ANSWERS } }];
    }),
  );
  const source = createLineSource(place, 'many', {
    pages: { ...pages, c10: { done: { cursor: 'c10', full: false } } },
  });
  await home.run(['source', 'add', 'many', '--yes', '--', ...source.argv]);
  const killed = await home.start();
  await killed.persona('many-ada', ({ cursor }) => (cursor ?? 0) > (ANSWERS * ITEMS) / 3);
  await killed.kill();
  await using tray = await home.start();
  await tray.persona('many-ada', ({ cursor }) => cursor === ANSWERS * ITEMS, 120_000);
  await sleep(300);
  assert.deepEqual(
    home.mail('many-ada'),
    Array.from({ length: ANSWERS * ITEMS }, (_, i) => i + 1),
  );
  const cursors = source.heard.flatMap(({ op, cursor }) => (op === 'look' ? [cursor] : []));
  assert.ok(cursors.filter((cursor) => cursor === null).length === 1, 'it went on from its cursor');
});
