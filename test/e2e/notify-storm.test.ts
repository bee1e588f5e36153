import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desktopMissing, poll, skipUnless, startDesktop } from '../kit/desktop/index.ts';
import { trayHome } from '../kit/tray-process.ts';

const skip = skipUnless(desktopMissing());
const PERSONAS = 1000;

test('1,000 personas get mail in some seconds: a few banners, one summary of the rest, and no error of the bus', {
  skip,
}, async () => {
  await using desktop = await startDesktop({ host: 'none' });
  using home = trayHome();
  await using tray = await home.start(['--no-tray'], {
    DBUS_SESSION_BUS_ADDRESS: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '',
  });
  await tray.until('dunst', ({ notifications }) => /^D-Bus, dunst/.test(notifications.state));
  for (let sent = 0; sent < PERSONAS; sent += 20) {
    const names = Array.from({ length: 20 }, (_, i) => `p${sent + i}`);
    await Promise.all(names.map((to) => tray.post('/api/send', { to, from: 'bo', content: 'hello' })));
  }
  await tray.until('all mail', ({ totals }) => totals.unread === PERSONAS);
  const list = async (): Promise<string[]> => (await desktop.notifications.list()).map(({ summary }) => summary);
  await poll(
    () => 'a summary of the rest',
    async () => (await list()).some((summary) => /^9\d\d (more )?messages for 9\d\d personas$/.test(summary)) || null,
    90_000,
  );
  const shown = await list();
  assert.ok(shown.length <= 15, shown.join('\n'));
  const status = await tray.status();
  assert.match(status.notifications.state, /^D-Bus, dunst/);
  assert.deepEqual(status.causes, []);
  assert.deepEqual(
    tray.log.filter((line) => /could not be shown|session bus/.test(line)),
    [],
  );
});
