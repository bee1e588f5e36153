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
import { realFiles, realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { createHeadlessService } from './headless-service.ts';
import { createLoginStart, type LoginNeeds } from './login-start.ts';
import { formatLaunchAgent } from './supervised-unit.ts';

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
    disk: createRealDisk(silentLog),
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
    calls: () => (existsSync(at('said')) ? readFileSync(at('said'), 'utf8').split('\n').slice(0, -1) : []),
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
    const { needs, at, calls } = scene('active');
    await createLoginStart({ ...needs, env: { PATH: '.:' } }).set(true);
    assert.ok(existsSync(at(ENTRY)));
    assert.deepEqual(calls(), []);
  });
});

test('on and off by systemd: it is told, and nothing of ours stays', async () => {
  const { login, at, calls } = scene('active');
  await login.set(true);
  assert.deepEqual(calls().slice(1), [
    '--user is-active --quiet graphical-session.target',
    '--user daemon-reload',
    '--user reenable hivebar.service',
  ]);
  assert.partialDeepStrictEqual(await login.check(), { is: 'on', by: 'systemd', path: at(UNIT), isOld: false });
  await login.set(true);
  assert.equal(await login.state(), true);
  await login.set(false);
  assert.equal(await login.state(), false);
  assert.equal(calls().at(-1), '--user daemon-reload');
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
  assert.deepEqual(await login.check(), { is: 'off', path: at(UNIT) });
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
      const rig = scene('no systemd');
      make(rig);
      const before = rig.text(ENTRY);
      assert.equal(await rig.login.state(), null);
      for (const on of [true, false]) await assert.rejects(rig.login.set(on), /left as it is/);
      assert.equal(rig.text(ENTRY), before);
      assert.deepEqual(rig.calls(), []);
    });
  }
});

test('after node or the program moved it is old, and on again mends it', async () => {
  for (const session of ['active', 'no systemd'] as const) {
    const { login, needs } = scene(session);
    await login.set(true);
    const moved = createLoginStart({ ...needs, program: { ...needs.program, node: '/opt/node26' } });
    const isOld = async () => {
      const status = await moved.check();
      return status.is === 'on' && status.isOld;
    };
    assert.equal(await isOld(), true);
    await moved.set(true);
    assert.equal(await isOld(), false);
  }
});

describe('macOS', () => {
  const PLIST = 'Library/LaunchAgents/hivebar.plist';
  const OLDER = 'Library/LaunchAgents/local.hivebar.plist';
  const mac = () => {
    const rig = scene('active', {}, 'darwin');
    const listPresent = (): readonly string[] => [PLIST, OLDER].filter((name) => existsSync(rig.at(name)));
    return { ...rig, listPresent };
  };
  /** As Hivebar wrote it under the label it had before. */
  const olderText = ({ needs }: ReturnType<typeof mac>): string =>
    formatLaunchAgent(needs.program).replace('<string>hivebar<', '<string>local.hivebar<');

  test('a LaunchAgent is a file and no more; nobody is asked to load or unload it', async () => {
    const { login, at, text, calls } = mac();
    const printed = await login.print();
    await login.set(true);
    assert.deepEqual(printed, { path: at(PLIST), text: text(PLIST) });
    assert.match(text(PLIST), /<key>Label<\/key><string>hivebar<\/string>/);
    assert.partialDeepStrictEqual(await login.check(), { is: 'on', by: 'launch-agent', path: at(PLIST), isOld: false });
    await login.set(false);
    assert.equal(await login.state(), false);
    assert.deepEqual(calls(), []);
  });

  test('two at login after the label changed: the agent of the older label is found, and on takes it away', async () => {
    const rig = mac();
    rig.write(OLDER, olderText(rig));
    assert.partialDeepStrictEqual(await rig.login.check(), {
      is: 'on',
      by: 'launch-agent',
      path: rig.at(OLDER),
      isOld: true,
    });
    assert.equal(await rig.login.state(), true);
    assert.equal((await rig.login.print()).path, rig.at(PLIST));
    await rig.login.set(true);
    assert.deepEqual(rig.listPresent(), [PLIST]);
    assert.partialDeepStrictEqual(await rig.login.check(), {
      is: 'on',
      by: 'launch-agent',
      path: rig.at(PLIST),
      isOld: false,
    });
  });

  test('both are there: said to be old, and off takes both away', async () => {
    const rig = mac();
    await rig.login.set(true);
    rig.write(OLDER, olderText(rig));
    assert.partialDeepStrictEqual(await rig.login.check(), {
      is: 'on',
      by: 'launch-agent',
      path: rig.at(PLIST),
      isOld: true,
    });
    await rig.login.set(false);
    assert.deepEqual([rig.listPresent(), await rig.login.state()], [[], false]);
  });

  test('off takes away the only one, of the older label', async () => {
    const rig = mac();
    rig.write(OLDER, olderText(rig));
    await rig.login.set(false);
    assert.deepEqual([rig.listPresent(), await rig.login.state()], [[], false]);
  });

  test('one of the older label that is not ours is no business of ours', async () => {
    for (const text of ['<plist/>', '<!-- Written by Hivebar for /x. -->']) {
      const rig = mac();
      rig.write(OLDER, text);
      assert.deepEqual(await rig.login.check(), { is: 'off', path: null });
      await rig.login.set(true);
      assert.partialDeepStrictEqual(await rig.login.check(), {
        is: 'on',
        by: 'launch-agent',
        path: rig.at(PLIST),
        isOld: false,
      });
      await rig.login.set(false);
      assert.deepEqual([rig.listPresent(), rig.text(OLDER)], [[OLDER], text]);
    }
  });

  test('what cannot be written leaves the agent of the older label in its place', async () => {
    const rig = mac();
    rig.write(OLDER, olderText(rig));
    rig.write(PLIST, '<plist/>');
    assert.equal((await rig.login.check()).is, 'foreign');
    await assert.rejects(rig.login.set(true), /hivebar\.plist was not written by Hivebar, and is left as it is/);
    assert.deepEqual(rig.listPresent(), [PLIST, OLDER]);
    await assert.rejects(rig.login.set(false), /left as it is/);
    assert.deepEqual([rig.listPresent(), rig.text(PLIST)], [[PLIST], '<plist/>']);
  });

  test('while the headless service is there neither label is switched on', async () => {
    const rig = mac();
    rig.write('bin/launchctl', '#!/bin/sh\n');
    chmodSync(rig.at('bin/launchctl'), 0o755);
    await createHeadlessService({ ...rig.needs, uid: 501 }).install([]);
    rig.write(OLDER, olderText(rig));
    await assert.rejects(rig.login.set(true), /the headless service is installed .*uninstall --headless/);
    assert.deepEqual(rig.listPresent(), [OLDER]);
  });
});

test('a unit that is there goes on with its target when it is written anew over SSH', async () => {
  for (const target of ['graphical-session.target', 'default.target']) {
    const { login, needs, write, text } = scene('active');
    await login.set(true);
    rmSync(join(needs.home, '.config/systemd/user/graphical-session.target.wants'), { recursive: true });
    write(`.config/systemd/user/${target}.wants/hivebar.service`, '');
    const elsewhere = createLoginStart({ ...needs, env: { PATH: '' } });
    assert.match((await elsewhere.print()).text, new RegExp(`WantedBy=${target}\n`));
    assert.match(text(UNIT), /WantedBy=graphical-session.target\n/);
  }
});

test('off without a systemd to tell: the unit is gone, and it is said why that will do', async () => {
  const { login, needs, at } = scene('active');
  await login.set(true);
  const lines: string[] = [];
  const log = { ...silentLog, info: (line: string) => void lines.push(line) };
  await createLoginStart({ ...needs, disk: createRealDisk(log), env: { PATH: '' } }).set(false);
  assert.equal(existsSync(at(UNIT)), false);
  assert.deepEqual(lines, ['systemd of this user is not running; it reads its units when it starts']);
});

test('XDG_CONFIG_HOME is where the unit goes; a relative one is ignored', async () => {
  const { needs, at } = scene('no systemd');
  const pathIn = async (XDG_CONFIG_HOME: string) =>
    (await createLoginStart({ ...needs, env: { ...needs.env, XDG_CONFIG_HOME } }).print()).path;
  assert.equal(await pathIn('/else'), '/else/autostart/hivebar.desktop');
  assert.equal(await pathIn('else'), at(ENTRY));
});

test('F8 given neither a systemd of this user nor a desktop, it is said what would have to be there', async () => {
  const bare = scene('no systemd').needs;
  const files = {
    ...bare.disk.files,
    lstat: (path: string) => (path.includes('sessions') ? null : realFiles.lstat(path)),
  };
  const container = createLoginStart({ ...bare, disk: { ...bare.disk, files } });
  assert.match((await container.missing()) ?? '', /systemd of this user does not answer .* and no installed desktop/);
  for (const env of [{ DISPLAY: ':0' }, { WAYLAND_DISPLAY: 'wayland-0' }, { XDG_CURRENT_DESKTOP: 'GNOME' }])
    assert.equal(await createLoginStart({ ...bare, env }).missing(), null);
  assert.equal(await scene('active').login.missing(), null);
});
