import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { type Desktop, type DesktopOptions, desktopMissing, skipUnless, startDesktop } from '../kit/desktop/index.ts';
import { type DoctorRun, doctor } from '../kit/doctor.ts';
import { trayHome } from '../kit/tray-process.ts';

const skip = skipUnless(desktopMissing());
const NAMES = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'XDG_CURRENT_DESKTOP', 'XDG_RUNTIME_DIR'] as const;

const on = ({ env }: Desktop): Record<string, string> =>
  Object.fromEntries(NAMES.map((name) => [name, env[name] ?? '']));

async function doctorOn(options: DesktopOptions, env: Readonly<Record<string, string>> = {}): Promise<DoctorRun> {
  await using desktop = await startDesktop(options);
  using home = trayHome();
  return await doctor(home, { ...on(desktop), ...env });
}

describe('hivebar doctor on a desktop', { skip }, () => {
  test('with a tray host and a notification daemon all is ok, running or not', async () => {
    await using desktop = await startDesktop();
    using home = trayHome();
    const before = await doctor(home, on(desktop));
    for (const name of ['session bus', 'tray host', 'notification daemon'])
      assert.equal(before.findCheck(name).is, 'ok', before.text);
    assert.match(before.findCheck('notification daemon').seen, /^dunst .*actions/);
    await using tray = await home.start([], on(desktop));
    await tray.until('the icon', (status) => status.tray.state.startsWith('on '));
    await tray.until('the daemon', (status) => status.notifications.state.startsWith('D-Bus, dunst'));
    const { code, findCheck, reasons, text } = await doctor(home, on(desktop));
    assert.match(findCheck('tray host').seen, /the icon is on \(StatusNotifierItem\)/);
    assert.deepEqual(
      [reasons.icon, reasons.banner],
      [
        { fail: [], warn: [] },
        { fail: [], warn: [] },
      ],
      text,
    );
    assert.equal(code, 0);
    const shown = await home.run(['doctor'], { env: on(desktop) });
    assert.match(shown.stdout, /^No icon\? +no cause found\nNo banner\? +no cause found/m);
  });

  test('S9: without a tray host the missing icon is explained, and the banner is not to blame', async () => {
    const { code, findCheck, reasons } = await doctorOn({ host: 'none' });
    assert.match(findCheck('tray host').seen, /no program shows tray icons .*desktop XFCE/);
    assert.match(findCheck('tray host').next ?? '', /Status Tray/);
    assert.deepEqual([reasons.icon.fail, reasons.banner.fail, code], [['tray host'], [], 1]);
  });

  test('S9: on GNOME the extension that is missing is named', async () => {
    const { findCheck } = await doctorOn({ host: 'none', notify: 'none' }, { XDG_CURRENT_DESKTOP: 'ubuntu:GNOME' });
    assert.match(findCheck('tray host').next ?? '', /gnome-shell-extension-appindicator/);
  });

  test('S19: without a notification daemon the missing banner is explained, and the icon is not to blame', async () => {
    const { code, findCheck, reasons } = await doctorOn({ notify: 'none' });
    assert.match(findCheck('notification daemon').seen, /no program shows notifications/);
    assert.match(findCheck('notification daemon').next ?? '', /dunst/);
    assert.deepEqual([reasons.banner.fail, reasons.icon.fail, code], [['notification daemon'], [], 1]);
  });

  test('a daemon that is paused is said, and how to go on', async () => {
    await using desktop = await startDesktop({ host: 'none' });
    execFileSync('dunstctl', ['set-paused', 'true'], { env: { ...desktop.env } });
    using home = trayHome();
    const { findCheck } = await doctor(home, on(desktop));
    assert.match(
      `${findCheck('notification daemon').seen} ${findCheck('notification daemon').next}`,
      /is paused.*set-paused false/,
    );
  });

  test('a Hivebar that was started outside of the desktop is told from a desktop that lacks something', async () => {
    await using desktop = await startDesktop();
    using home = trayHome();
    await using tray = await home.start();
    await tray.until('its word', (status) => status.tray.state.startsWith('off (no session bus'));
    const { findCheck } = await doctor(home, on(desktop));
    assert.match(
      findCheck('tray host').seen,
      /a tray host runs, but the running Hivebar reports .*off \(no session bus/,
    );
    assert.match(findCheck('notification daemon').next ?? '', /start it inside this desktop session/);
  });
});

describe('S19: hivebar doctor without a session bus', () => {
  test('where nobody is logged in to a desktop it is a warning; with a display it is the failure', async () => {
    using home = trayHome();
    const over = await doctor(home);
    assert.deepEqual([over.findCheck('session bus').is, over.code], ['warn', 0]);
    const display = await doctor(home, { DISPLAY: ':99' });
    assert.deepEqual([display.findCheck('session bus').is, display.code], ['fail', 1]);
    assert.deepEqual(display.reasons.icon.fail, ['session bus']);
  });

  test('an address at which no bus answers is named', async () => {
    using home = trayHome();
    const { findCheck } = await doctor(home, { DBUS_SESSION_BUS_ADDRESS: `unix:path=${home.at('bus')}` });
    assert.match(findCheck('session bus').seen, /cannot reach the bus at unix:path=/);
  });

  test('what is switched off is no finding', async () => {
    using home = trayHome({ primary: { is: 'local' }, tray: 'none', notifications: false });
    const { findCheck, code } = await doctor(home, { DISPLAY: ':99' });
    for (const name of ['session bus', 'tray host', 'notification daemon']) assert.equal(findCheck(name).is, 'skipped');
    assert.equal(code, 0);
  });
});
