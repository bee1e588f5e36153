import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { desktopMissing, skipUnless, startDesktop } from './desktop/index.ts';

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
  {
    await using desktop = await startDesktop({ notify: 'none' });
    folder = dirname(desktop.env.HOME ?? '');
    assert.ok(existsSync(folder));
    assert.ok(listProcesses(folder).length >= 5, 'X server, bus, panel, recorder, xfconf');
    assert.deepEqual(await desktop.tray.items(), []);
  }
  assert.ok(!existsSync(folder));
  assert.deepEqual(listProcesses(folder), []);
});

/** Every process with the rig's folder in its environment. */
function listProcesses(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(folder);
    } catch {
      return false; // ended meanwhile
    }
  });
}
