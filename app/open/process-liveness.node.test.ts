import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { FLOCK_HOLDER, NO_PYTHON } from '../../test/kit/flock-holder.ts';
import { needs } from '../../test/kit/require.ts';
import { scratch } from '../../test/kit/scratch.ts';
import { checkLiveness, readStartKey } from './process-liveness.node.ts';

const platform = process.platform;
const unix = { skip: platform === 'win32' ? 'Windows has no start key' : false };

test('a process lives until it ends, and is known by its start', unix, async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const pid = child.pid ?? assert.fail();
  const startKey = readStartKey(pid, platform);
  assert.ok(startKey !== null);
  assert.equal(readStartKey(pid, platform), startKey, 'told again, it is the same');
  assert.equal(checkLiveness({ pid, startKey }, platform), 'live');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(checkLiveness({ pid, startKey }, platform), 'gone');
  assert.equal(readStartKey(pid, platform), null);
});

test('C9 a session with a lock lives as long as somebody holds it, whatever its process does', unix, async (t) => {
  if (platform !== 'linux' || needs(t, NO_PYTHON)) return;
  using home = scratch();
  const lock = home.write('t1.lock', '');
  const runner = { pid: process.pid, startKey: readStartKey(process.pid, platform), lock };
  assert.equal(checkLiveness(runner, platform), 'gone', 'its process lives, and nobody has the lock');
  const holder = spawn('python3', ['-c', FLOCK_HOLDER, lock]);
  await once(holder.stdout, 'data');
  assert.equal(checkLiveness(runner, platform), 'live');
  assert.equal(checkLiveness({ ...runner, pid: 2 ** 30 }, platform), 'live', 'another server took the thread over');
  holder.stdin.end();
  await once(holder, 'exit');
  assert.equal(checkLiveness(runner, platform), 'gone');
  assert.equal(checkLiveness({ ...runner, lock: home.at('none.lock') }, platform), 'gone');
});

test('a pid that another process has now is not the session', unix, () => {
  assert.equal(checkLiveness({ pid: process.pid, startKey: 'another boot:1' }, platform), 'gone');
});

test('without a start key a pid proves that something runs, no more; without a process it is gone', () => {
  assert.equal(checkLiveness({ pid: process.pid, startKey: null }, platform), 'unknown');
  assert.equal(checkLiveness({ pid: process.pid, startKey: null }, 'win32'), 'unknown');
  assert.equal(checkLiveness({ pid: 2 ** 30, startKey: null }, 'win32'), 'gone');
  assert.equal(readStartKey(process.pid, 'win32'), null);
});

test('Linux: a name of blanks and parentheses does not shift the start', { skip: platform !== 'linux' }, async () => {
  const child = spawn(process.execPath, [
    '-e',
    'process.title = ") R 1 (x) S 5 6 7"; console.log(1); setInterval(() => {}, 1000)',
  ]);
  const before = readStartKey(child.pid ?? 0, platform);
  await once(child.stdout, 'data');
  assert.equal(readStartKey(child.pid ?? 0, platform), before);
  assert.match(before ?? '', /^[0-9a-f-]{36}:\d+$/);
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('Linux: a process that has ended, and was not asked for yet, is gone', {
  skip: platform !== 'linux',
}, async () => {
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 5'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const startKey = readStartKey(pid, platform);
  assert.equal(checkLiveness({ pid, startKey }, platform), 'live');
  while (readStartKey(pid, platform) !== null) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(process.kill(pid, 0), true, 'it is still in the table');
  assert.equal(checkLiveness({ pid, startKey }, platform), 'gone');
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});
