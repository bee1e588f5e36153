import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FLOCK_HOLDER, NO_FLOCK, NO_PYTHON } from '../../test/kit/flock-holder.ts';
import { needs } from '../../test/kit/require.ts';
import { silentLog } from '../ports/index.ts';
import { createRealDisk } from './disk.node.ts';
import { flockByKoffi, flockByUtilLinux, type LockWay, openLocked } from './lock.node.ts';

const disk = createRealDisk(silentLog);
let dir: string;
let path: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-locked-'));
  path = join(dir, 'deep', 's1.jsonl');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  fs.rmSync(dir, { recursive: true, force: true });
});

async function python(): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn('python3', ['-c', FLOCK_HOLDER, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  assert.ok(child.stdout);
  const [output] = await once(child.stdout, 'data');
  return { child, answer: String(output).trim() };
}

const descriptors = (): number => (fs.existsSync('/proc/self/fd') ? fs.readdirSync('/proc/self/fd').length : 0);

for (const [name, way, missing] of [
  ['koffi', flockByKoffi, null],
  ['flock(1) of util-linux', flockByUtilLinux, NO_FLOCK],
] as const) {
  test(`a file that carries its own lock, by ${name}: Python is kept out, and kept waiting no longer`, async (t) => {
    if (needs(t, missing ?? NO_PYTHON)) return;
    const got = openLocked(disk, path, 'create', 0, [way]);
    assert.ok(got.is === 'got' && got.file.created);
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    assert.equal(fs.statSync(join(dir, 'deep')).mode & 0o777, 0o700);
    assert.equal((await python()).answer, 'held');
    got.file[Symbol.dispose]();
    got.file[Symbol.dispose]();
    assert.equal((await python()).answer, 'got');
  });

  test(`by ${name}: a Python holder is waited for so long and no longer, and no descriptor is left`, async (t) => {
    if (needs(t, missing ?? NO_PYTHON)) return;
    fs.mkdirSync(join(dir, 'deep'));
    const holder = await python();
    assert.equal(holder.answer, 'got');
    const before = descriptors();
    const began = performance.now();
    assert.equal(openLocked(disk, path, 'existing', 250, [way]).is, 'held');
    assert.ok(performance.now() - began >= 249, 'it was waited for');
    assert.equal(descriptors(), before);
    holder.child.kill('SIGKILL');
    const after = openLocked(disk, path, 'existing', 20_000, [way]);
    assert.ok(after.is === 'got', 'it is free the moment its holder is killed');
    after.file[Symbol.dispose]();
  });
}

test('what is missing stays missing when it is only to be changed', () => {
  assert.equal(openLocked(disk, path, 'existing', 0).is, 'missing');
  assert.equal(fs.existsSync(join(dir, 'deep')), false);
});

test('a symlink is refused', () => {
  fs.mkdirSync(join(dir, 'deep'));
  fs.writeFileSync(join(dir, 'elsewhere'), '');
  fs.symlinkSync(join(dir, 'elsewhere'), path);
  for (const how of ['create', 'existing'] as const) {
    assert.throws(() => openLocked(disk, path, how, 0), { code: 'unwritable', message: /symlink/ });
  }
});

test('a file that is unlinked between open and lock is not taken: the lock is on the one that has the name', () => {
  let times = 0;
  const slow: LockWay = (fd, file) => {
    times += 1;
    if (times === 1) fs.rmSync(file);
    return flockByKoffi(fd);
  };
  const before = descriptors();
  const got = openLocked(disk, path, 'create', 0, [slow]);
  assert.ok(got.is === 'got');
  assert.equal(fs.fstatSync(got.file.fd).ino, fs.statSync(path).ino);
  got.file[Symbol.dispose]();
  times = 0;
  assert.equal(openLocked(disk, path, 'existing', 0, [slow]).is, 'missing');
  assert.equal(descriptors(), before);
});
