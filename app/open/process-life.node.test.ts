import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { lifeOf, startKeyOf } from './process-life.node.ts';

const here = process.platform;
const unix = { skip: here === 'win32' ? 'Windows has no start key' : false };

test('a process lives until it ends, and is known by its start', unix, async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const pid = child.pid ?? assert.fail();
  const startKey = startKeyOf(pid, here);
  assert.ok(startKey !== null);
  assert.equal(startKeyOf(pid, here), startKey, 'told again, it is the same');
  assert.equal(lifeOf({ pid, startKey }, here), 'live');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(lifeOf({ pid, startKey }, here), 'gone');
  assert.equal(startKeyOf(pid, here), null);
});

test('a pid that another process has now is not the session', unix, () => {
  assert.equal(lifeOf({ pid: process.pid, startKey: 'another boot:1' }, here), 'gone');
});

test('without a start key a pid proves that something runs, no more; without a process it is gone', () => {
  assert.equal(lifeOf({ pid: process.pid, startKey: null }, here), 'unknown');
  assert.equal(lifeOf({ pid: process.pid, startKey: null }, 'win32'), 'unknown');
  assert.equal(lifeOf({ pid: 2 ** 30, startKey: null }, 'win32'), 'gone');
  assert.equal(startKeyOf(process.pid, 'win32'), null);
});

test('Linux: a name of blanks and parentheses does not shift the start', { skip: here !== 'linux' }, async () => {
  const child = spawn(process.execPath, [
    '-e',
    'process.title = ") R 1 (x) S 5 6 7"; console.log(1); setInterval(() => {}, 1000)',
  ]);
  const before = startKeyOf(child.pid ?? 0, here);
  await once(child.stdout, 'data');
  assert.equal(startKeyOf(child.pid ?? 0, here), before);
  assert.match(before ?? '', /^[0-9a-f-]{36}:\d+$/);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('Linux: a process that has ended, and was not asked for yet, is gone', { skip: here !== 'linux' }, async () => {
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 5'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const startKey = startKeyOf(pid, here);
  assert.equal(lifeOf({ pid, startKey }, here), 'live');
  while (startKeyOf(pid, here) !== null) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(process.kill(pid, 0), true, 'it is still in the table');
  assert.equal(lifeOf({ pid, startKey }, here), 'gone');
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});
