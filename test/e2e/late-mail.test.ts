import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FakeHive, fakeHive } from '../kit/fake-hive.ts';
import { startCli } from '../kit/process.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** An agent reads its inbox while mail comes: the count of unread mail does not rise, and the mail is told all the same. */
const NO_SURFACES = ['--no-tray', '--no-notifications'];

/** Between two answers of the list everything is read, and this comes. @returns its id */
function readAndDeliver(hive: FakeHive, urgent: boolean): number {
  let id = 0;
  hive.together(() => {
    hive.markRead('ada');
    id = hive.deliver('ada', { urgent });
  });
  return id;
}

describe('mail that comes while other mail is read', { concurrency: 4 }, () => {
  // Nothing but the list leads to a look: the next full poll of these settings is hours away.
  const settings = { pollSeconds: 3600, holdSeconds: 50 };

  test('F1 F2 3 unread are read while an urgent one comes: it is told, and known to be urgent, in the same turn', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    for (let mail = 0; mail < 3; mail += 1) hive.deliver('ada');
    using home = trayHome({ ...settings, primary: { is: 'kijito', base: hive.url } });
    await using tray = await home.start(NO_SURFACES);
    await tray.persona('ada', ({ unread }) => unread === 3);
    await until('the list is held', () => hive.asked('pending').length >= 2);
    const id = readAndDeliver(hive, true);
    await until('it is told', () => home.mail('ada').includes(id));
    const { unread, urgent } = await tray.persona('ada', (ada) => ada.unread === 1);
    assert.deepEqual([unread, urgent], [1, 1]);
    const { totals } = await tray.status();
    assert.deepEqual([totals.urgent, totals.urgentIs], [1, 'exact']);
  });

  test('F1 one is read while one comes: no count tells of it, the cursor of the list does', async () => {
    await using hive = await fakeHive({ personas: ['ada', 'bo'] });
    hive.deliver('ada');
    using home = trayHome({ ...settings, primary: { is: 'kijito', base: hive.url } });
    await using tray = await home.start(NO_SURFACES);
    await tray.persona('ada', ({ unread }) => unread === 1);
    await until('the list is held', () => hive.asked('pending').length >= 2);
    const id = readAndDeliver(hive, false);
    await until('it is told', () => home.mail('ada').includes(id));
  });

  test('F1 the same in a stop of the hive: the first answer after it has every inbox looked at', async () => {
    await using hive = await fakeHive({ personas: ['ada'] });
    hive.deliver('ada');
    using home = trayHome({ ...settings, primary: { is: 'kijito', base: hive.url } });
    await using tray = await home.start(NO_SURFACES);
    await tray.persona('ada', ({ unread }) => unread === 1);
    await until('the list is held', () => hive.asked('pending').length >= 2);
    await hive.refuse();
    const id = readAndDeliver(hive, false);
    await hive.heal();
    await until('it is told', () => home.mail('ada').includes(id));
  });

  test('F1 headless, and on a hive without long-poll: a count that falls is looked at with the next poll', async () => {
    await using hive = await fakeHive({ personas: ['ada'], pending: 'plain' });
    await using cli = startCli(['watch', '--hive', hive.url, '--poll-seconds', '1', '--resync-every', '10000']);
    await cli.event('armed');
    for (let mail = 0; mail < 3; mail += 1) hive.deliver('ada');
    await cli.event('new', ({ id }) => id === 3);
    const pollCount = hive.asked('inbox').length;
    const polls = hive.asked('pending').length;
    await cli.until('it is quiet', () => hive.asked('pending').length >= polls + 2);
    assert.equal(hive.asked('inbox').length, pollCount, 'and nothing is fetched while nothing changes');
    const id = readAndDeliver(hive, false);
    await cli.event('new', (event) => event.id === id);
  });
});
