import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { FLOCK_HOLDER, NO_FLOCK, NO_PYTHON } from '../../test/kit/flock-holder.ts';
import { needs } from '../../test/kit/require.ts';
import { Fault } from '../model/index.ts';
import { silentLog } from '../ports/index.ts';
import { createRealDisk } from './disk.node.ts';
import { flockByKoffi, flockByUtilLinux, type LockWay, lockFile } from './lock.node.ts';

const disk = createRealDisk(silentLog);
let dir: string;
let path: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-lock-'));
  path = join(dir, 'hive.ada.json');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  fs.rmSync(dir, { recursive: true, force: true });
});

/** A Python process that tries the lock and, if it gets it, holds it until its stdin ends. */
async function python(): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn('python3', ['-c', FLOCK_HOLDER, `${path}.lock`], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  assert.ok(child.stdout);
  const [output] = await once(child.stdout, 'data');
  return { child, answer: String(output).trim() };
}

function lockFault(ways?: readonly LockWay[]): Fault {
  try {
    lockFile(disk, path, ways)[Symbol.dispose]();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  assert.fail('the lock was not refused');
}

const descriptors = (): number => (fs.existsSync('/proc/self/fd') ? fs.readdirSync('/proc/self/fd').length : 0);

for (const [name, way, missing] of [
  ['koffi', flockByKoffi, null],
  ['flock(1) of util-linux', flockByUtilLinux, NO_FLOCK],
] as const) {
  describe(`the lock taken by ${name}`, () => {
    test('excludes a Python holder, and is free again when disposed', async (t) => {
      if (needs(t, missing ?? NO_PYTHON)) return;
      const lock = lockFile(disk, path, [way]);
      assert.equal(lock.path, `${path}.lock`);
      assert.equal((await python()).answer, 'held');
      lock[Symbol.dispose]();
      lock[Symbol.dispose]();
      assert.equal((await python()).answer, 'got');
    });

    test('trap 39: is refused while a Python holder lives, leaves no descriptor, and is free the moment it is killed', async (t) => {
      if (needs(t, missing ?? NO_PYTHON)) return;
      const holder = await python();
      assert.equal(holder.answer, 'got');
      const before = descriptors();
      const fault = lockFault([way]);
      assert.equal(fault.code, 'lock-held');
      assert.match(fault.explain(), /state-file in use/);
      assert.ok(fault.message.includes(path));
      assert.equal(descriptors(), before, 'a refused lock leaves no descriptor');
      holder.child.kill('SIGKILL');
      await once(holder.child, 'exit');
      lockFile(disk, path, [way])[Symbol.dispose]();
    });

    test('excludes a second taker in the same process', (t) => {
      if (needs(t, missing)) return;
      using _held = lockFile(disk, path, [way]);
      assert.equal(lockFault([way]).code, 'lock-held');
    });
  });
}

test('a child that outlives us does not inherit the lock', async (t) => {
  if (needs(t, NO_PYTHON)) return;
  const lock = lockFile(disk, path);
  const child = spawn('sleep', ['30'], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  lock[Symbol.dispose]();
  assert.equal((await python()).answer, 'got');
});

test('inbox-gates 8.4b: a way that does not work here gives place to the next, and if none works that is a fault', () => {
  const broken: LockWay = () => {
    throw new Error('no such library');
  };
  lockFile(disk, path, [broken, flockByKoffi])[Symbol.dispose]();
  const fault = lockFault([broken]);
  assert.equal(fault.code, 'unwritable');
  assert.match(fault.message, /no way to lock a file works here \(no such library\)/);
});

test('trap 40: the sidecar is private, stays, and is refused as a symlink', () => {
  lockFile(disk, path)[Symbol.dispose]();
  assert.equal(fs.statSync(`${path}.lock`).mode & 0o777, 0o600);
  fs.rmSync(`${path}.lock`);
  fs.symlinkSync(join(dir, 'elsewhere'), `${path}.lock`);
  const fault = lockFault();
  assert.equal(fault.code, 'unwritable');
  assert.match(fault.message, /symlink/);
});

test('a sidecar that is replaced between open and lock is not taken for the lock', () => {
  let replaced = 0;
  const slow: LockWay = (fd, sidecar) => {
    if (replaced < 1) {
      replaced += 1;
      fs.rmSync(sidecar);
      fs.writeFileSync(sidecar, '', { mode: 0o600 });
    }
    return flockByKoffi(fd);
  };
  const before = descriptors();
  using _lock = lockFile(disk, path, [slow]);
  assert.equal(lockFault().code, 'lock-held', 'the lock is on the file that has the name');
  assert.equal(descriptors(), before + (before === 0 ? 0 : 1));
});

test('koffi is not loaded before the first lock', () => {
  const script = `
    const { lockFile, createRealDisk } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
    const { createRequire } = await import('node:module');
    const loaded = () => Object.keys(createRequire(import.meta.url).cache ?? {}).some((f) => f.includes('koffi'));
    const before = loaded();
    lockFile(createRealDisk({ info() {}, warn() {}, error() {} }), ${JSON.stringify(path)});
    console.log(before, loaded());
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(stdout.trim(), 'false true', stderr);
});
