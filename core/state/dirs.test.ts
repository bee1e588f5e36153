import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeDirs } from './dirs.node.ts';

const linux = { platform: 'linux', env: {}, home: '/h/ada', cwd: '/w' } as const;

test('trap 38: each platform keeps state in its own place, never in a cache directory', () => {
  assert.deepEqual(computeDirs(linux), {
    state: '/h/ada/.local/state/hivebar',
    run: '/h/ada/.local/state/hivebar/run',
    config: '/h/ada/.config/hivebar',
  });
  assert.equal(
    computeDirs({ ...linux, platform: 'darwin', home: '/h/mac' }).state,
    '/h/mac/Library/Application Support/hivebar',
  );
  const windows = computeDirs({
    platform: 'win32',
    env: { LOCALAPPDATA: 'C:\\ada\\AppData\\Local' },
    home: 'C:\\ada',
    cwd: 'C:\\',
  });
  assert.equal(windows.state, 'C:\\ada\\AppData\\Local\\hivebar');
});

test('XDG variables move state and configuration, a relative one is ignored', () => {
  const env = { XDG_STATE_HOME: '/x/state', XDG_CONFIG_HOME: 'relative' };
  const dirs = computeDirs({ ...linux, env });
  assert.equal(dirs.state, '/x/state/hivebar');
  assert.equal(dirs.config, '/h/ada/.config/hivebar');
});

test('HIVEBAR_HOME moves everything on every platform', () => {
  for (const platform of ['linux', 'darwin'] as const) {
    const dirs = computeDirs({ ...linux, platform, env: { HIVEBAR_HOME: 'here', XDG_STATE_HOME: '/x' } });
    assert.deepEqual(dirs, { state: '/w/here', run: '/w/here/run', config: '/w/here/config' });
  }
});
