import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { formatAutostartEntry } from '../../app/service/login-entries.ts';
import { installHooks } from '../kit/hooks.ts';
import { trayHome } from '../kit/tray-process.ts';
import { until } from '../kit/until.ts';

/** A desktop that reads autostart files is there. */
const DESKTOP = { XDG_CURRENT_DESKTOP: 'XFCE' };

test('G9 G10 after an upgrade of Node: status and doctor say what is gone, a start mends the script of the hooks and the login entry', async () => {
  using home = trayHome({ primary: { is: 'local' } });
  installHooks(home.home, home.dir);
  const script = home.at('hook/hivebar-hook');
  const right = readFileSync(script, 'utf8');
  writeFileSync(script, right.replace(/\nnode='.*'\n/, "\nnode='/gone/bin/node'\n"));
  const entry = join(home.home, '.config/autostart/hivebar.desktop');
  mkdirSync(dirname(entry), { recursive: true });
  const old = { node: '/gone/bin/node', entry: '/gone/hivebar.cjs', state: home.dir };
  writeFileSync(entry, formatAutostartEntry({ ...old, environment: { HIVEBAR_HOME: home.dir } }));

  const status = await home.run(['service', 'status'], { env: DESKTOP });
  assert.equal(status.code, 1);
  assert.match(status.stdout, /^does not start at login: .*hivebar\.desktop exists, but it starts \/gone\/bin\/node/);
  assert.equal((await home.run(['hook', 'status'])).code, 1);
  const doctor = await home.run(['doctor', '--json'], { env: DESKTOP });
  assert.equal(doctor.code, 1);
  const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly { name: string; is: string }[] };
  for (const name of ['hooks', 'start at login'])
    assert.equal(checks.find((check) => check.name === name)?.is, 'fail', name);

  {
    await using tray = await home.start(['--no-tray', '--no-notifications']);
    await until('both are mended', () => readFileSync(entry, 'utf8').includes(`TryExec=${process.execPath}\n`));
    assert.equal(readFileSync(script, 'utf8'), right);
    assert.deepEqual((await tray.status()).causes, []);
  }
  assert.equal((await home.run(['service', 'status'], { env: DESKTOP })).code, 0);
  assert.equal((await home.run(['hook', 'status'])).code, 0);
});
