import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { realDisk } from '../../core/state/index.ts';
import { createLoginStart, type LoginNeeds } from './login-start.ts';

const root = mkdtempSync(join(tmpdir(), 'hivebar-login-'));
after(() => rmSync(root, { recursive: true }));

let homes = 0;

/**
 * A home with a `systemctl` of its own as the only program: it writes down what it is asked, says of the session's target
 * what it is told, and makes the symlink that the real one makes.
 */
function scene(
  session: 'active' | 'inactive' | 'no systemd',
  env: Record<string, string> = {},
  os: NodeJS.Platform = 'linux',
) {
  homes += 1;
  const home = join(root, `home${homes}`);
  const bin = join(home, 'bin');
  const at = (name: string): string => join(home, name);
  mkdirSync(bin, { recursive: true });
  const wants = '.config/systemd/user/graphical-session.target.wants';
  const code = { active: 0, inactive: 3, 'no systemd': 1 }[session];
  writeFileSync(
    join(bin, 'systemctl'),
    `#!/bin/sh
echo "$@" >>'${at('said')}'
case "$2" in
  is-active) exit ${code} ;;
  reenable) [ -e '${at('broken')}' ] && { echo no manager >&2; exit 1; }
    /bin/mkdir -p '${at(wants)}' && /bin/ln -sf ../hivebar.service '${at(`${wants}/hivebar.service`)}' ;;
esac
`,
  );
  chmodSync(join(bin, 'systemctl'), 0o755);
  const needs: LoginNeeds = {
    os,
    env: { PATH: `.:${bin}`, ...env },
    home,
    disk: realDisk(silentLog),
    random: realRandom,
    spawn: realSpawn,
    program: { node: '/opt/node', entry: '/opt/hivebar.cjs', state: at('state'), environment: {} },
  };
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  return {
    needs,
    login: createLoginStart(needs),
    at,
    write,
    text: (name: string) => readFileSync(at(name), 'utf8'),
    said: () => (existsSync(at('said')) ? readFileSync(at('said'), 'utf8').split('\n').slice(0, -1) : []),
  };
}

const UNIT = '.config/systemd/user/hivebar.service';
const ENTRY = '.config/autostart/hivebar.desktop';

describe('which mechanism', () => {
  for (const [session, env, way, target] of [
    ['active', { DISPLAY: ':0' }, UNIT, 'graphical-session.target'],
    ['inactive', {}, UNIT, 'default.target'],
    ['inactive', { WAYLAND_DISPLAY: 'w' }, ENTRY, null],
    ['no systemd', { DISPLAY: ':0' }, ENTRY, null],
    ['no systemd', {}, ENTRY, null],
  ] as const) {
    test(`the session's target is ${session}, ${Object.keys(env).join('') || 'no display'}: ${way}`, async () => {
      const { login, at, text } = scene(session, env);
      assert.equal(await login.state(), false);
      await login.set(true);
      assert.deepEqual(
        [UNIT, ENTRY].filter((name) => existsSync(at(name))),
        [way],
      );
      if (target !== null) assert.match(text(UNIT), new RegExp(`WantedBy=${target}\n`));
    });
  }

  test('chosen once: what is installed stays, though another would be chosen now', async () => {
    const { login, at, needs } = scene('active');
    const before = createLoginStart({ ...needs, env: { PATH: '' } });
    await before.set(true);
    await login.set(true);
    assert.deepEqual([existsSync(at(UNIT)), existsSync(at(ENTRY))], [false, true]);
    assert.equal(await login.state(), true);
  });

  test('without any program on PATH it is a file, and a systemctl in the current folder is never run', async () => {
    const { needs, at, said } = scene('active');
    await createLoginStart({ ...needs, env: { PATH: '.:' } }).set(true);
    assert.ok(existsSync(at(ENTRY)));
    assert.deepEqual(said(), []);
  });
});

test('on and off by systemd: it is told, and nothing of ours stays', async () => {
  const { login, at, said } = scene('active');
  await login.set(true);
  assert.deepEqual(said().slice(1), [
    '--user is-active --quiet graphical-session.target',
    '--user daemon-reload',
    '--user reenable hivebar.service',
  ]);
  assert.deepEqual(await login.look(), { is: 'on', by: 'systemd', path: at(UNIT), isOld: false });
  await login.set(true);
  assert.equal(await login.state(), true);
  await login.set(false);
  assert.equal(await login.state(), false);
  assert.equal(said().at(-1), '--user daemon-reload');
  assert.equal(existsSync(at(UNIT)), false);
  assert.equal(existsSync(at('.config/systemd/user/graphical-session.target.wants/hivebar.service')), false);
  await login.set(false);
});

test('a unit that could not be enabled is taken away again, and the error says why', async () => {
  const { login, at, write } = scene('active');
  write('broken', '');
  await assert.rejects(login.set(true), /systemctl --user reenable hivebar.service: ended with 1: no manager/);
  assert.equal(existsSync(at(UNIT)), false);
});

test('a unit that systemd was told to disable is off', async () => {
  const { login, at } = scene('active');
  await login.set(true);
  rmSync(at('.config/systemd/user/graphical-session.target.wants/hivebar.service'));
  assert.deepEqual(await login.look(), { is: 'off', path: at(UNIT) });
});

test('an entry that was switched off in the desktop is off; on writes it anew', async () => {
  const { login, text, write } = scene('no systemd');
  await login.set(true);
  write(ENTRY, text(ENTRY).replace('enabled=true', 'enabled=false'));
  assert.equal(await login.state(), false);
  await login.set(true);
  assert.equal(await login.state(), true);
});

describe('a file of the same name that is not ours', () => {
  for (const [name, make] of [
    ['somebody wrote', (s: ReturnType<typeof scene>) => s.write(ENTRY, '[Desktop Entry]\nExec=hivebar\n')],
    [
      'is a symlink, also to something of ours',
      (s: ReturnType<typeof scene>) => {
        s.write('elsewhere', `# Written by Hivebar for ${s.at('state')}.`);
        mkdirSync(dirname(s.at(ENTRY)), { recursive: true });
        symlinkSync(s.at('elsewhere'), s.at(ENTRY));
      },
    ],
    [
      'is of a Hivebar with another home',
      (s: ReturnType<typeof scene>) => s.write(ENTRY, '# Written by Hivebar for /x.'),
    ],
  ] as const) {
    test(`that ${name}: neither overwritten nor removed, and nothing is said of on or off`, async () => {
      const here = scene('no systemd');
      make(here);
      const before = here.text(ENTRY);
      assert.equal(await here.login.state(), null);
      for (const on of [true, false]) await assert.rejects(here.login.set(on), /left as it is/);
      assert.equal(here.text(ENTRY), before);
      assert.deepEqual(here.said(), []);
    });
  }
});

test('after node or the program moved it is old, and on again mends it', async () => {
  for (const session of ['active', 'no systemd'] as const) {
    const { login, needs } = scene(session);
    await login.set(true);
    const moved = createLoginStart({ ...needs, program: { ...needs.program, node: '/opt/node26' } });
    const isOld = async () => {
      const look = await moved.look();
      return look.is === 'on' && look.isOld;
    };
    assert.equal(await isOld(), true);
    await moved.set(true);
    assert.equal(await isOld(), false);
  }
});

test('macOS: a LaunchAgent is a file and no more; nobody is asked to load or unload it', async () => {
  const { login, at, said } = scene('active', {}, 'darwin');
  await login.set(true);
  assert.match(readFileSync(at('Library/LaunchAgents/local.hivebar.plist'), 'utf8'), /<string>\/opt\/node<\/string>/);
  assert.equal(await login.state(), true);
  await login.set(false);
  assert.equal(await login.state(), false);
  assert.deepEqual(said(), []);
});
