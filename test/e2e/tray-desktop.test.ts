import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLocalHive } from '../../core/inbox/index.ts';
import { realClock, silentLog } from '../../core/ports/index.ts';
import { openDatabase } from '../../core/state/index.ts';
import { type Desktop, desktopMissing, skipUnless, startDesktop } from '../kit/desktop/index.ts';
import { type TrayHome, type TrayProcess, trayHome } from '../kit/tray-process.ts';

const skip = skipUnless(desktopMissing());

describe('banners of the tray process', { skip, concurrency: true }, () => {
  let desktop: Desktop;
  before(async () => {
    desktop = await startDesktop({ host: 'none' });
  });
  after(() => desktop?.[Symbol.asyncDispose]());

  const start = (home: TrayHome): Promise<TrayProcess> =>
    home.start(['--no-tray'], { DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '' });
  /** Titles of the banners about these; the tests that share the desktop differ in their names. */
  const banners = async (names: readonly string[]): Promise<string[]> =>
    (await desktop.notifications.list()).flatMap(({ summary, body }) =>
      names.some((name) => `${summary} ${body}`.includes(name)) ? [summary] : [],
    );

  for (const [names, title] of [
    [['solo'], 'solo: 500 new'],
    [Array.from({ length: 20 }, (_, i) => `crowd${i}`), '500 messages for 20 personas'],
  ] as const) {
    test(`S17: 500 old mails at the first start, for ${names.length}: a badge of 500, and one banner`, async () => {
      using home = trayHome();
      deliver(home, names, 500 / names.length);
      await using tray = await start(home);
      await tray.until('500 unread', ({ totals }) => totals.unread === 500);
      await desktop.notifications.wait(new RegExp(`^${title}\n`));
      await sleep(2500);
      assert.equal(names.flatMap((name) => home.mail(name)).length, 500);
      assert.deepEqual(await banners(names), [title]);
    });
  }

  test('S17: 40 mails that came while it was away are one banner at the next start; what came before is not told again', async () => {
    using home = trayHome();
    deliver(home, ['away'], 3);
    {
      await using tray = await start(home);
      await tray.persona('away', ({ cursor }) => cursor === 3);
      await desktop.notifications.wait(/^away: 3 new\n/);
      await tray.stop();
    }
    deliver(home, ['away'], 40);
    await using tray = await start(home);
    await tray.persona('away', ({ cursor }) => cursor === 43);
    await desktop.notifications.wait(/^away: 40 new\n/);
    await sleep(2500);
    assert.deepEqual(await banners(['away']), ['away: 3 new', 'away: 40 new']);
  });

  test('S16: mail to oneself, also in another case, is no banner', async () => {
    using home = trayHome();
    await using tray = await start(home);
    await tray.post('/api/send', { to: 'own', from: 'OWN', content: 'note to self' });
    await tray.post('/api/send', { to: 'own', from: 'own', content: 'another' });
    await tray.persona('own', ({ cursor }) => cursor === 2);
    await sleep(1500);
    assert.deepEqual(await banners(['own']), []);
    await tray.post('/api/send', { to: 'own', from: 'river', content: 'from another' });
    await desktop.notifications.wait(/^own: 1 new\nriver: from another$/);
  });
});

test('S9: a panel that comes later gets the icon; one that comes back gets it again', { skip }, async () => {
  await using desktop = await startDesktop({ host: 'none', notify: 'none' });
  using home = trayHome();
  await using tray = await home.start([], { DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '' });
  await tray.post('/api/send', { to: 'ada', from: 'me', content: 'hi' });
  await tray.persona('ada', ({ unread }) => unread === 1);
  const calls = (): string[] => tray.log.filter((line) => line.startsWith('tray:'));
  await tray.cli.until('the word that there is no tray', () => calls().length > 0);
  await sleep(1000);
  assert.equal(calls().length, 1, calls().join('\n'));
  for (let starts = 0; starts < 2; starts += 1) {
    await desktop.panel.start();
    await desktop.tray.of(tray.pid).waitLabel(/^ada - 1 unread( · .*)?$/);
    await tray.until('the icon', (status) => /^on/.test(status.tray.state));
    await desktop.panel.stop();
    await tray.until('no icon', (status) => !/^on/.test(status.tray.state));
  }
});

test('a decision is announced once, also over a stop and a kill; one that was asked meanwhile is announced then', {
  skip,
}, async () => {
  await using desktop = await startDesktop({ host: 'none' });
  using home = trayHome();
  const bus = { DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '' };
  const start = (): Promise<TrayProcess> => home.start(['--no-tray'], bus);
  const ask = async (as: string): Promise<void> => {
    const { code } = await home.run(['decision', 'create', '--as', as, '--option', 'a=yes', '--option', 'b=no', 'So?']);
    assert.equal(code, 0);
  };
  {
    await using tray = await start();
    await ask('ada');
    await desktop.notifications.wait(/^ada asks\nSo\?$/);
    await tray.stop();
  }
  await ask('bo');
  {
    await using tray = await start();
    await desktop.notifications.wait(/^bo asks\nSo\?$/);
    await sleep(1500); // what was shown is kept a moment later
    await tray.kill();
  }
  await using tray = await start();
  await tray.until('both', ({ decisions }) => decisions.length === 2);
  await sleep(2500);
  const titles = (await desktop.notifications.list()).map(({ summary }) => summary);
  assert.deepEqual(titles, ['ada asks', 'bo asks']);
});

function deliver(home: TrayHome, names: readonly string[], each: number): void {
  using db = openDatabase(home.at('hivebar.sqlite'));
  using hive = openLocalHive({ db, clock: realClock, log: silentLog, contentChars: null });
  for (let i = 0; i < each; i += 1) {
    for (const to of names) hive.sendNow({ to, from: 'me', content: `mail ${i}`, urgent: false });
  }
}
