import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { realRandom, realSpawn, silentLog } from '../../core/ports/index.ts';
import { createRealDisk } from '../../core/state/index.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { formatDaemonLaunchAgent, formatDaemonSystemdUnit } from './daemon-service.ts';
import { findMissingStart, parseStartPaths } from './headless-service.ts';
import { formatAutostartEntry, formatLogonTask } from './login-entries.ts';
import { createLoginStart } from './login-start.ts';
import { formatLaunchAgent, formatSystemdUnit } from './supervised-unit.ts';

const program = {
  node: `/opt/my "node" $1\\2 100%/bin/node`,
  entry: '/srv/lib/hivebar.cjs',
  state: '/srv/state',
  environment: { HIVEBAR_HOME: '/srv/state' },
};

test('G10 what a unit starts is read back from every form of ours', () => {
  const daemon = { tenant: 'acme', identity: 'ada', project: '/srv/project', program };
  const expected = [program.node, program.entry];
  assert.deepEqual(parseStartPaths(formatSystemdUnit(program, 'default.target'), 'linux'), expected);
  assert.deepEqual(parseStartPaths(formatAutostartEntry(program), 'linux'), expected);
  assert.deepEqual(parseStartPaths(formatDaemonSystemdUnit(daemon), 'linux'), expected);
  assert.deepEqual(parseStartPaths(formatLaunchAgent(program), 'darwin'), expected);
  assert.deepEqual(parseStartPaths(formatDaemonLaunchAgent(daemon), 'darwin'), expected);
  const windows = { ...program, node: 'C:\\Program Files\\node.exe', entry: 'C:\\h\\hivebar.cjs', environment: {} };
  assert.deepEqual(parseStartPaths(formatLogonTask(windows, 'PC\\ada'), 'win32'), [windows.node, windows.entry]);
});

describe('a Node that an upgrade took away', () => {
  function scene() {
    const home = scratch();
    const disk = createRealDisk(silentLog);
    for (const name of ['old', 'new', 'hivebar.cjs']) home.write(name, '');
    const login = (node: string) => {
      const paths = { node: home.at(node), entry: home.at('hivebar.cjs'), state: home.at('state'), environment: {} };
      const needs = {
        os: 'linux',
        env: { PATH: '' },
        home: home.dir,
        disk,
        random: realRandom,
        spawn: realSpawn,
      } as const;
      return createLoginStart({ ...needs, program: paths });
    };
    return { home, disk, login, [Symbol.dispose]: () => home[Symbol.dispose]() };
  }

  test('G10 start at login says what it starts in vain, and is mended by the program that runs from elsewhere', async () => {
    using s = scene();
    const path = s.home.at('.config/autostart/hivebar.desktop');
    await s.login('old').set(true);
    assert.partialDeepStrictEqual(await s.login('new').check(), { is: 'on', path, isOld: true, gone: null });
    await s.login('new').repair();
    assert.match(readFileSync(path, 'utf8'), /TryExec=.*\/old\n/, 'what is there is left');
    rmSync(s.home.at('old'));
    assert.partialDeepStrictEqual(await s.login('new').check(), { is: 'on', gone: s.home.at('old') });
    await s.login('new').repair();
    assert.match(readFileSync(path, 'utf8'), /TryExec=.*\/new\n/);
    assert.partialDeepStrictEqual(await s.login('new').check(), { is: 'on', isOld: false, gone: null });
  });

  test('G10 what the person switched off, or somebody else wrote, is not mended', async () => {
    using s = scene();
    const path = s.home.at('.config/autostart/hivebar.desktop');
    await s.login('old').set(true);
    rmSync(s.home.at('old'));
    for (const text of [`${readFileSync(path, 'utf8')}Hidden=true\n`, '[Desktop Entry]\n']) {
      writeFileSync(path, text);
      await s.login('new').repair();
      assert.equal(readFileSync(path, 'utf8'), text);
    }
  });

  test('G10 a link that leads nowhere is gone, a link to a file is not', () => {
    using s = scene();
    const text = (node: string): string => formatAutostartEntry({ ...program, node, entry: s.home.at('hivebar.cjs') });
    mkdirSync(dirname(s.home.at('links/x')), { recursive: true });
    symlinkSync(s.home.at('old'), s.home.at('links/good'));
    symlinkSync(s.home.at('none'), s.home.at('links/bad'));
    assert.equal(findMissingStart(s.disk, text(s.home.at('links/good')), 'linux'), null);
    assert.equal(findMissingStart(s.disk, text(s.home.at('links/bad')), 'linux'), s.home.at('links/bad'));
  });
});
