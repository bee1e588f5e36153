import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { needs } from '../kit/require.ts';
import { type TrayHome, trayHome } from '../kit/tray-process.ts';

/** As in a container: no systemd of a user answers, and no desktop runs. */
function inContainer(home: TrayHome): Readonly<Record<string, string>> {
  const bin = join(home.home, 'bin');
  mkdirSync(bin);
  const systemctl = '#!/bin/sh\necho "Failed to connect to bus: No such file or directory" >&2\nexit 1\n';
  writeFileSync(join(bin, 'systemctl'), systemctl, { mode: 0o755 });
  return { PATH: `${bin}:/bin:/usr/bin`, DISPLAY: '', WAYLAND_DISPLAY: '', XDG_CURRENT_DESKTOP: '' };
}

test('F8 given a container, service install refuses with the way out, and status and doctor say that an entry starts nothing', async (t) => {
  const isBare = process.platform === 'linux' && !existsSync('/usr/share/xsessions');
  if (needs(t, isBare && !existsSync('/usr/share/wayland-sessions') ? null : 'a desktop is installed here')) return;
  using home = trayHome();
  const env = inContainer(home);
  const entry = join(home.home, '.config/autostart/hivebar.desktop');
  const refused = await home.run(['service', 'install'], { env });
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(
    refused.stderr,
    /^hivebar service: nothing would start Hivebar at login: systemd of this user does not answer .*no installed desktop/,
  );
  assert.match(refused.stderr, /in a container use `hivebar watch` as its command; .* install with --headless\n$/);
  assert.equal(existsSync(entry), false);
  assert.equal((await home.run(['service', 'status'], { env })).code, 0, 'nothing is promised');

  const onDesktop = await home.run(['service', 'install'], { env: { ...env, XDG_CURRENT_DESKTOP: 'XFCE' } });
  assert.equal(onDesktop.code, 0, onDesktop.stderr);
  assert.match(onDesktop.stdout, /^starts at login, by .*hivebar\.desktop\n$/);
  const status = await home.run(['service', 'status'], { env });
  assert.equal(status.code, 1);
  assert.match(
    status.stdout,
    /^does not start at login: .*hivebar\.desktop exists, but systemd of this user does not answer .*no installed desktop/,
  );
  const doctor = await home.run(['doctor', '--json'], { env });
  const { checks } = JSON.parse(doctor.stdout) as {
    readonly checks: readonly { readonly name: string; readonly is: string; readonly seen: string }[];
  };
  const login = checks.find(({ name }) => name === 'start at login');
  assert.equal(login?.is, 'fail');
  assert.match(login?.seen ?? '', /hivebar\.desktop starts nothing: systemd of this user does not answer/);
  assert.equal((await home.run(['service', 'uninstall'], { env })).code, 0);
  assert.equal(existsSync(entry), false);
});
