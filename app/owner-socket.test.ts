import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerSocketOf } from './owner-socket.ts';

test('on Linux and macOS the owner-only socket stands in the run directory', () => {
  assert.equal(
    ownerSocketOf('linux', '/h/ada/.local/state/hivebar/run'),
    '/h/ada/.local/state/hivebar/run/hivebar.sock',
  );
  assert.equal(ownerSocketOf('darwin', '/Users/ada/hb/run'), '/Users/ada/hb/run/hivebar.sock');
});

test('on Windows it is a named pipe, one for each run directory, however the directory is written', () => {
  const pipe = ownerSocketOf('win32', 'C:\\Users\\ada\\AppData\\Local\\hivebar\\run');
  assert.match(pipe, /^\\\\\.\\pipe\\hivebar-[0-9a-f]{16}$/);
  assert.equal(ownerSocketOf('win32', 'c:\\users\\ADA\\appdata\\local\\Hivebar\\Run'), pipe);
  assert.notEqual(ownerSocketOf('win32', 'C:\\Users\\bo\\AppData\\Local\\hivebar\\run'), pipe);
});

test('the hash is FNV-1a, by its published values', () => {
  assert.equal(ownerSocketOf('win32', ''), '\\\\.\\pipe\\hivebar-cbf29ce484222325');
  assert.equal(ownerSocketOf('win32', 'a'), '\\\\.\\pipe\\hivebar-af63dc4c8601ec8c');
  assert.equal(ownerSocketOf('win32', 'foobar'), '\\\\.\\pipe\\hivebar-85944171f73967e8');
});
