import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dirsOf } from './dirs.ts';

const linux = { platform: 'linux', env: {}, home: '/home/ada', cwd: '/work' } as const;

test('each platform keeps state in its own place, never in a cache directory', () => {
  assert.deepEqual(dirsOf(linux), {
    state: '/home/ada/.local/state/hivebar',
    run: '/home/ada/.local/state/hivebar/run',
    config: '/home/ada/.config/hivebar',
  });
  assert.equal(
    dirsOf({ ...linux, platform: 'darwin', home: '/Users/ada' }).state,
    '/Users/ada/Library/Application Support/hivebar',
  );
  const windows = dirsOf({
    platform: 'win32',
    env: { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' },
    home: 'C:\\Users\\ada',
    cwd: 'C:\\',
  });
  assert.equal(windows.state, 'C:\\Users\\ada\\AppData\\Local\\hivebar');
});

test('XDG variables move state and configuration, a relative one is ignored', () => {
  const env = { XDG_STATE_HOME: '/x/state', XDG_CONFIG_HOME: 'relative' };
  const dirs = dirsOf({ ...linux, env });
  assert.equal(dirs.state, '/x/state/hivebar');
  assert.equal(dirs.config, '/home/ada/.config/hivebar');
});

test('HIVEBAR_HOME moves everything on every platform', () => {
  for (const platform of ['linux', 'darwin'] as const) {
    const dirs = dirsOf({ ...linux, platform, env: { HIVEBAR_HOME: 'here', XDG_STATE_HOME: '/x' } });
    assert.deepEqual(dirs, { state: '/work/here', run: '/work/here/run', config: '/work/here/config' });
  }
});
