import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { startCli } from '../kit/process.ts';
import { scratch } from '../kit/scratch.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** A hive that was emptied and gives its ids again: cursor 5, and then the mails 1 to 3. */
function beginAgain(hive: FakeHive): void {
  hive.together(() => {
    hive.startAgain();
    for (let mail = 0; mail < 3; mail += 1) hive.deliver('ada', { content: 'of another log' });
  });
}

test('E3 given a position that belongs to another inbox, the log and the event say identity mismatch', async () => {
  await using first = await fakeHive({ personas: ['ada'] });
  await using second = await fakeHive({ personas: ['ada'] });
  for (const hive of [first, second]) hive.deliver('ada');
  using home = trayHome({ primary: { is: 'kijito', base: first.url }, pollSeconds: 1, holdSeconds: 1 });
  const flags = ['--no-tray', '--no-notifications'];
  {
    await using tray = await home.start(flags);
    await tray.persona('ada', ({ state, cursor }) => state === 'UP' && cursor === 1);
    await tray.stop();
  }
  const other = JSON.stringify({ is: 'kijito', base: second.url });
  assert.equal((await home.run(['config', 'set', 'primary', other])).code, 0);
  await using tray = await home.start(flags);
  await tray.persona('ada', ({ state }) => state === 'UP');
  const words = /identity mismatch: its saved position belongs to another inbox/;
  assert.match(tray.log.join('\n'), words);
  const skipped = home.events('ada').filter(({ event }) => event === 'baseline_skipped');
  assert.match(String(skipped.at(-1)?.reason), words);
});

describe('a hive whose ids begin again', { concurrency: 4 }, () => {
  for (const isRunning of [true, false]) {
    test(`F5 ${isRunning ? 'while the tray process runs' : 'while it is stopped'}: one alert, and each unread mail is told once`, async () => {
      await using hive = await fakeHive({ personas: ['ada'] });
      using home = trayHome({ primary: { is: 'kijito', base: hive.url }, pollSeconds: 1, holdSeconds: 1 });
      const flags = ['--no-tray', '--no-notifications'];
      {
        await using tray = await home.start(flags);
        await tray.persona('ada', ({ state }) => state === 'UP');
        for (let mail = 0; mail < 5; mail += 1) hive.deliver('ada');
        await until('five are told', () => home.mail('ada').length === 5);
        if (isRunning) {
          beginAgain(hive);
          await until('three more are told', () => home.mail('ada').length === 8);
        }
        await tray.stop();
      }
      if (!isRunning) beginAgain(hive);
      await using tray = await home.start(flags);
      await until('three more are told', () => home.mail('ada').length >= 8);
      const next = hive.deliver('ada');
      await until('and the next', () => home.mail('ada').length >= 9);
      const events = home.events('ada');
      assert.deepEqual(home.mail('ada'), [1, 2, 3, 4, 5, 1, 2, 3, next]);
      assert.equal(events.filter(({ reason }) => reason === 'log-restarted').length, 1);
      const ids = events.flatMap(({ event, event_id }) => (event === 'new' ? [event_id] : []));
      assert.equal(new Set(ids).size, 9, 'no id names two messages');
      assert.equal((await tray.status()).personas.find(({ id }) => id === 'ada')?.state, 'UP');
    });
  }

  test('F5 headless, revision 6 holds its cursor and says so; at least once tells what is unread', async () => {
    using files = scratch();
    await using hive = await fakeHive({ personas: ['ada'] });
    const args = ['watch', '--hive', hive.url, '--poll-seconds', '1', '--state-file', files.at('hive.json')];
    {
      await using cli = startCli(args);
      await cli.event('armed');
      for (let mail = 0; mail < 5; mail += 1) hive.deliver('ada');
      await cli.event('new', ({ id }) => id === 5);
      beginAgain(hive);
      await cli.says(/ada: its newest message is 3, below the saved position 5, so its unread mail gets no event/);
      await cli.stop();
    }
    await using cli = startCli([...args, '--delivery', 'at-least-once']);
    await cli.event('new', ({ id }) => id === 3);
    const delivered = cli.events.map(({ event, reason }) => reason ?? event);
    assert.deepEqual(delivered, ['log-restarted', 'armed', 'new', 'new', 'new']);
  });
});
