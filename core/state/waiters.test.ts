import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { dismissWaiter, listWaitingSessions, ringWaiters, toWaitersDir } from './waiters.node.ts';

/** A pipe that is open as a waiter has it, and what was rung. */
function openPipe(path: string) {
  execFileSync('mkfifo', ['-m', '600', path]);
  const fd = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
  const bytes = Buffer.alloc(1 << 20);
  return {
    fd,
    rung(): number {
      try {
        return fs.readSync(fd, bytes);
      } catch {
        return 0; // it is empty
      }
    },
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

if (process.platform !== 'win32') {
  test('given no waiter, a database in memory or a directory that is a file, a ring rings nobody', () => {
    using state = scratch();
    assert.equal(toWaitersDir(':memory:'), null);
    assert.deepEqual(ringWaiters(null, ['ada']), []);
    assert.deepEqual(ringWaiters(state.at('waiters'), ['ada']), []);
    assert.deepEqual(ringWaiters(state.write('waiters', ''), 'everyone'), []);
  });

  test('given waiters of two personas, a ring rings those of the named one, under each form of its id, or all', () => {
    using state = scratch();
    const dir = state.at('waiters');
    for (const stem of ['ada', 'local-ada', 'bo']) fs.mkdirSync(`${dir}/${stem}`, { recursive: true });
    using ada = openPipe(`${dir}/ada/s1.10`);
    using local = openPipe(`${dir}/local-ada/s2.11`);
    using bo = openPipe(`${dir}/bo/s3.12`);
    assert.deepEqual(ringWaiters(dir, ['ada']), ['s1', 's2']);
    assert.deepEqual([ada.rung(), local.rung(), bo.rung()], [1, 1, 0]);
    assert.deepEqual(ringWaiters(dir, 'everyone').toSorted(), ['s1', 's2', 's3']);
    assert.equal(bo.rung(), 1);
  });

  test('given a pipe full of rings, a link, a file or a pipe that nobody has open, a ring neither waits nor writes', () => {
    using state = scratch();
    const dir = state.at('waiters');
    fs.mkdirSync(`${dir}/ada`, { recursive: true });
    using full = openPipe(`${dir}/ada/s1.10`);
    for (let isFull = false; !isFull; ) {
      try {
        fs.writeSync(full.fd, Buffer.alloc(4096));
      } catch {
        isFull = true; // EAGAIN
      }
    }
    fs.writeFileSync(`${dir}/ada/s2.11`, '');
    fs.symlinkSync(`${dir}/ada/s1.10`, `${dir}/ada/s3.12`);
    execFileSync('mkfifo', [`${dir}/ada/s4.13`, `${dir}/ada/s5.14`]);
    fs.utimesSync(`${dir}/ada/s5.14`, 1, 1);
    assert.deepEqual(ringWaiters(dir, ['ada']), ['s1']);
    assert.equal(fs.readFileSync(`${dir}/ada/s2.11`, 'utf8'), '');
    assert.deepEqual(fs.readdirSync(`${dir}/ada`).toSorted(), ['s1.10', 's2.11', 's3.12', 's4.13'], 's5 was litter');
  });

  test('given the end of a session, its note is removed, its waiter is rung, and old litter goes', () => {
    using state = scratch();
    const dir = state.at('waiters');
    fs.mkdirSync(`${dir}/ada`, { recursive: true });
    using pipe = openPipe(`${dir}/ada/s1.10`);
    for (const name of ['s1', 's2', 's3']) fs.writeFileSync(`${dir}/ada/${name}`, '10\n');
    fs.utimesSync(`${dir}/ada/s3`, 1, 1);
    assert.deepEqual(listWaitingSessions(dir, ['ada']).toSorted(), ['s1', 's2', 's3']);
    dismissWaiter(dir, ['ada'], 's1');
    assert.equal(pipe.rung(), 1);
    assert.deepEqual(listWaitingSessions(dir, ['ada']), ['s2']);
  });
}
