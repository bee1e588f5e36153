import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveOwnerSocketPath } from './owner-socket.ts';

test('on Linux and macOS the owner-only socket stands in the run directory', () => {
  assert.equal(
    resolveOwnerSocketPath('linux', '/h/ada/.local/state/hivebar/run', 1000),
    '/h/ada/.local/state/hivebar/run/hivebar.sock',
  );
  assert.equal(resolveOwnerSocketPath('darwin', '/Users/ada/hb/run', 1000), '/Users/ada/hb/run/hivebar.sock');
});

test('on Windows it is a named pipe, one for each run directory, however the directory is written', () => {
  const pipe = resolveOwnerSocketPath('win32', 'C:\\Users\\ada\\AppData\\Local\\hivebar\\run', 1000);
  assert.match(pipe, /^\\\\\.\\pipe\\hivebar-[0-9a-f]{16}$/);
  assert.equal(resolveOwnerSocketPath('win32', 'c:\\users\\ADA\\appdata\\local\\Hivebar\\Run', 1000), pipe);
  assert.notEqual(resolveOwnerSocketPath('win32', 'C:\\Users\\bo\\AppData\\Local\\hivebar\\run', 1000), pipe);
});

test('the hash is FNV-1a, by its published values', () => {
  assert.equal(resolveOwnerSocketPath('win32', '', 1000), '\\\\.\\pipe\\hivebar-cbf29ce484222325');
  assert.equal(resolveOwnerSocketPath('win32', 'a', 1000), '\\\\.\\pipe\\hivebar-af63dc4c8601ec8c');
  assert.equal(resolveOwnerSocketPath('win32', 'foobar', 1000), '\\\\.\\pipe\\hivebar-85944171f73967e8');
});

test('F10 given a run directory whose socket would be too long a path, both sides use a short one of this user', () => {
  const run = `/h/ada/${'x'.repeat(100)}/run`;
  const path = resolveOwnerSocketPath('linux', run, 1000);
  assert.match(path, /^\/tmp\/hivebar-1000\/[0-9a-f]{16}\.sock$/);
  assert.equal(path, resolveOwnerSocketPath('linux', run, 1000));
  assert.notEqual(path, resolveOwnerSocketPath('linux', `${run}2`, 1000));
});

test('F10 given a path of just as many bytes as a socket may have, it stays in the run directory; one more does not', () => {
  for (const [platform, most] of [
    ['linux', 107],
    ['darwin', 103],
    ['freebsd', 103],
  ] as const) {
    const run = (bytes: number): string => `/${'é'.repeat(20)}/`.padEnd(bytes - 20 - '/hivebar.sock'.length, 'x');
    const longest = resolveOwnerSocketPath(platform, run(most), 1000);
    assert.deepEqual([longest, Buffer.byteLength(longest)], [`${run(most)}/hivebar.sock`, most], platform);
    assert.match(resolveOwnerSocketPath(platform, run(most + 1), 1000), /^\/tmp\/hivebar-1000\//, platform);
  }
});
