import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { desktopMissing, skipUnless, startDesktop } from './desktop/index.ts';

const run = promisify(execFile);
const skip = skipUnless(desktopMissing());

test('a real daemon shows a notification; a click on it comes back as its default action', { skip }, async () => {
  await using desktop = await startDesktop({ host: 'none' });
  const send = (title: string) =>
    desktop.bus.call({
      dest: 'org.freedesktop.Notifications',
      path: '/org/freedesktop/Notifications',
      iface: 'org.freedesktop.Notifications',
      member: 'Notify',
      signature: 'susssasa{sv}i',
      body: ['kit', 0, '', title, 'body', ['default', 'Open'], {}, 0],
    });
  await send('first');
  await send('second');
  const shown = await desktop.notifications.wait(/^second\nbody$/);
  assert.deepEqual(shown.actions, ['default', 'Open']);
  assert.deepEqual(
    (await desktop.notifications.open()).map((s) => s.summary),
    ['first', 'second'],
  );
  await desktop.notifications.click(/^second/); // the lower row: by a real button press
  await desktop.notifications.click(/^first/);
  assert.deepEqual(
    (await desktop.notifications.list()).map((s) => s.closed !== null),
    [true, true],
  );
});

test('the rig is gone without a trace once disposed', { skip }, async () => {
  let folder = '';
  let address = '';
  {
    await using desktop = await startDesktop({ notify: 'none' });
    folder = dirname(desktop.env.HOME ?? '');
    address = desktop.env.DBUS_SESSION_BUS_ADDRESS ?? '';
    assert.ok(existsSync(folder));
    assert.deepEqual(await desktop.tray.items(), []);
  }
  assert.ok(!existsSync(folder));
  const { stdout } = await run('pgrep', ['-af', address.replace('unix:path=', '').replace('/run/bus', '')]).catch(
    () => ({ stdout: '' }),
  );
  assert.equal(stdout, '');
});
