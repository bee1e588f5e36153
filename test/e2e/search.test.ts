import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** The search of the real program, as a person at the command line meets it. */

test('messages of all inboxes are found by their words; an index that is damaged or gone is made again at the next start', async () => {
  using home = trayHome();
  const search = (...words: string[]) => home.run(['inbox', 'search', ...words]);
  const closed = await search('red');
  assert.deepEqual([closed.code, /not running: start it with/.test(closed.stderr)], [1, true]);
  await home.run(['send', '--to', 'ada', '--from', 'ci', 'main is red']);
  const index = home.at('search.sqlite');
  {
    await using tray = await home.start();
    await tray.until('the mail', ({ totals }) => totals.unread === 1);
    await home.run(['send', '--to', 'bo', '--from', 'ada', '--urgent', 'the redder build']);
    const { stdout, code } = await search('red');
    assert.equal(code, 0);
    assert.match(stdout, /^\*! +2 {2}\S+Z {2}ada -> bo: the redder build\n\* +1 {2}\S+Z {2}ci -> ada: main is red\n$/);
    const json = JSON.parse((await home.run(['inbox', 'search', '--json', 'redder'])).stdout) as { id: number }[];
    assert.deepEqual(
      json.map(({ id }) => id),
      [2],
    );
    assert.equal((await search('nothing of this')).stdout, 'no message has nothing of this\n');
    assert.equal((await home.run(['inbox', 'search'])).code, 2);
    await until(
      'the event and the message are one',
      async () => (await search('ci')).stdout.trim().split('\n').length === 1,
    );
  }
  assert.ok(existsSync(index));
  for (const suffix of ['-wal', '-shm']) rmSync(index + suffix, { force: true });
  writeFileSync(index, 'not a database at all, and longer than a header '.repeat(50));
  {
    await using _tray = await home.start();
    assert.match((await search('redder')).stdout, /ada -> bo: the redder build\n$/);
  }
});
