import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  computeDaemonPlaces,
  type DaemonSurroundings,
  isSlug,
  readOwnSurroundings,
  toDaemonsDir,
  toJoinedName,
  toSlug,
} from './index.ts';

const ADA = { tenant: 'acme', identity: 'ada' };
const LINUX: DaemonSurroundings = { platform: 'linux', env: {}, home: '/h/u', cwd: '/', uid: 1000, temp: '/tmp' };
const MAC: DaemonSurroundings = { ...LINUX, platform: 'darwin', home: '/Users/u', uid: 501, temp: '/var/folders/x/T' };
const WINDOWS: DaemonSurroundings = {
  ...{ platform: 'win32', env: {}, home: 'C:\\Users\\U', cwd: 'C:\\', uid: null, temp: 'C:\\Temp' },
};

describe('where a daemon has its things', () => {
  test('Linux: the truth in the state directory, the process in the runtime directory of the session', () => {
    const places = computeDaemonPlaces(ADA, { ...LINUX, env: { XDG_RUNTIME_DIR: '/run/user/1000' } });
    assert.deepEqual(places, {
      name: 'acme-ada',
      unit: 'prism-daemon-acme-ada',
      dir: '/h/u/.local/state/hivebar/daemons/acme-ada',
      config: '/h/u/.local/state/hivebar/daemons/acme-ada/daemon.json',
      observeToken: '/h/u/.local/state/hivebar/daemons/acme-ada/observe.token',
      actToken: '/h/u/.local/state/hivebar/daemons/acme-ada/act.token',
      runtime: '/run/user/1000/prism-daemon/acme-ada',
      socket: '/run/user/1000/prism-daemon/acme-ada/ctl.sock',
      token: '/run/user/1000/prism-daemon/acme-ada/ctl.token',
      locked: '/run/user/1000/prism-daemon/acme-ada',
      pid: '/run/user/1000/prism-daemon/acme-ada.pid',
      metrics: '/run/user/1000/prism-daemon/acme-ada/metrics.prom',
      log: '/run/user/1000/prism-daemon/acme-ada/log',
      activity: '/run/user/1000/prism-daemon/acme-ada/activity',
    });
  });

  test('Linux: without a runtime directory, or with one that is relative, below the state directory', () => {
    for (const env of [{}, { XDG_RUNTIME_DIR: 'run' }]) {
      const { runtime } = computeDaemonPlaces(ADA, { ...LINUX, env });
      assert.equal(runtime, '/h/u/.local/state/hivebar/run/prism-daemon/acme-ada');
    }
  });

  test('HIVEBAR_HOME moves all of it, whatever else is set', () => {
    for (const around of [LINUX, MAC]) {
      const env = { HIVEBAR_HOME: '/x', XDG_RUNTIME_DIR: '/run/user/1000' };
      const { dir, socket } = computeDaemonPlaces(ADA, { ...around, env });
      assert.deepEqual([dir, socket], ['/x/daemons/acme-ada', '/x/run/prism-daemon/acme-ada/ctl.sock']);
    }
  });

  test('macOS, by its text alone: a folder of the user under the temporary one', () => {
    const { dir, socket } = computeDaemonPlaces(ADA, MAC);
    assert.equal(dir, '/Users/u/Library/Application Support/hivebar/daemons/acme-ada');
    assert.equal(socket, '/var/folders/x/T/prism-daemon-501/acme-ada/ctl.sock');
  });

  test('Windows, by its text alone: a pipe that is named after the user and the daemon', () => {
    const { config, socket } = computeDaemonPlaces(ADA, WINDOWS);
    assert.equal(config, 'C:\\Users\\U\\AppData\\Local\\hivebar\\daemons\\acme-ada\\daemon.json');
    assert.equal(socket, '\\\\.\\pipe\\prism-daemon.955b2ad618d328d7.acme-ada');
    const same = computeDaemonPlaces(ADA, { ...WINDOWS, home: 'c:\\users\\u' });
    assert.equal(same.socket, socket);
    assert.notEqual(computeDaemonPlaces(ADA, { ...WINDOWS, home: 'C:\\Users\\V' }).socket, socket);
  });

  test('a hook that has no XDG_RUNTIME_DIR looks where the unit of the daemon is', () => {
    const { env, uid } = readOwnSurroundings({ XDG_RUNTIME_DIR: '/elsewhere' });
    assert.equal(env.XDG_RUNTIME_DIR, '/elsewhere');
    const found = readOwnSurroundings({}).env.XDG_RUNTIME_DIR;
    assert.ok(found === undefined || found === `/run/user/${uid}`);
    assert.equal(readOwnSurroundings({ HIVEBAR_HOME: '/x' }).env.XDG_RUNTIME_DIR, undefined);
    assert.equal(toDaemonsDir({ ...LINUX, env: { HIVEBAR_HOME: '/x' } }), '/x/daemons');
  });
});

describe('names of daemons', () => {
  test('a slug is 1 to 32 of a-z, 0-9 and dashes, and nothing else', () => {
    for (const good of ['a', 'acme-2', '-', '0'.repeat(32)]) assert.equal(isSlug(good), true, good);
    for (const bad of ['', 'A', 'a.b', 'a/b', '..', 'a b', 'é', 'a\n', '0'.repeat(33)])
      assert.equal(isSlug(bad), false, bad);
  });

  test('a slug of any name is one, or empty when nothing is left', () => {
    const cases = { 'Ada Lovelace': 'ada-lovelace', Éve__2: 'eve-2', '../../etc': 'etc', 日本: '', '': '' };
    for (const [name, slug] of Object.entries(cases)) assert.equal(toSlug(name), slug);
    assert.equal(toSlug(`${'a'.repeat(31)} b`), 'a'.repeat(31));
  });

  test('two pairs may have one joined name', () => {
    assert.equal(toJoinedName({ tenant: 'a-b', identity: 'c' }), toJoinedName({ tenant: 'a', identity: 'b-c' }));
  });
});
