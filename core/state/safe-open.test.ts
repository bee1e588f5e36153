import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Fault } from '../model/index.ts';
import { realFiles } from '../ports/index.ts';
import { ensurePrivateDir } from './atomic-write.ts';
import { type Disk, openForAppend, openForRead } from './safe-open.ts';

const root = process.geteuid?.() === 0;
let dir: string;
let warnings: string[];
let disk: Disk;

beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-open-'));
  warnings = [];
  const log = { info: () => {}, warn: (line: string) => void warnings.push(line), error: () => {} };
  disk = { files: realFiles, log, uid: process.geteuid?.() ?? null };
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const readMode = (path: string): number => fs.statSync(path).mode & 0o7777;
const openCount = (): number => (fs.existsSync('/proc/self/fd') ? fs.readdirSync('/proc/self/fd').length : 0);

function fault(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  assert.fail('nothing was refused');
}

test('a new file is 0600 and its missing directories 0700 at every level, whatever the umask', () => {
  const before = process.umask(0o002);
  try {
    const path = join(dir, 'a', 'b', 'file');
    const { fd, created } = openForAppend(disk, path);
    fs.closeSync(fd);
    assert.ok(created);
    assert.equal(readMode(path), 0o600);
    assert.equal(readMode(join(dir, 'a', 'b')), 0o700);
    assert.equal(readMode(join(dir, 'a')), 0o700);
    assert.deepEqual(warnings, []);
  } finally {
    process.umask(before);
  }
});

test('trap 51: a file that is looser, or 0700, is made 0600 and said so', () => {
  for (const mode of [0o644, 0o700, 0o666]) {
    const path = join(dir, `f${mode}`);
    fs.writeFileSync(path, 'kept\n');
    fs.chmodSync(path, mode);
    const { fd, created } = openForAppend(disk, path);
    fs.closeSync(fd);
    assert.ok(!created);
    assert.equal(readMode(path), 0o600);
    assert.equal(fs.readFileSync(path, 'utf8'), 'kept\n');
    assert.ok(warnings.at(-1)?.includes(path) && warnings.at(-1)?.includes(`0${mode.toString(8)}`));
  }
});

test('trap 35, trap 52, trap 53: a symlink, a pipe, a directory and a foreign file are refused with path and reason, and no descriptor leaks', {
  timeout: 5000,
}, () => {
  const target = join(dir, 'target');
  fs.writeFileSync(target, '');
  fs.symlinkSync(target, join(dir, 'link'));
  fs.symlinkSync(join(dir, 'nowhere'), join(dir, 'dangling'));
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  fs.mkdirSync(join(dir, 'folder'));
  const cases: [string, RegExp][] = [
    ['link', /symlink/],
    ['dangling', /symlink/],
    ['pipe', /pipe/],
    ['folder', /directory/],
  ];
  if (root) {
    fs.writeFileSync(join(dir, 'foreign'), '');
    fs.chownSync(join(dir, 'foreign'), 65534, 65534);
    cases.push(['foreign', /belongs to user 65534/]);
  }
  const descriptors = openCount();
  for (const [name, why] of cases) {
    const path = join(dir, name);
    const append = fault(() => openForAppend(disk, path));
    assert.equal(append.code, 'unwritable');
    const read = fault(() => openForRead(disk, path));
    assert.equal(read.code, 'unreadable');
    for (const f of [append, read]) {
      assert.match(f.message, why);
      assert.ok(f.message.startsWith(path), f.message);
    }
  }
  assert.equal(openCount(), descriptors);
  assert.equal(fs.readFileSync(target, 'utf8'), '');
  assert.ok(!fs.existsSync(join(dir, 'nowhere')));
});

test('reading what is not there is null, not a fault', () => {
  assert.equal(openForRead(disk, join(dir, 'none')), null);
  assert.equal(openForRead(disk, join(dir, 'no', 'folder')), null);
});

test('a directory of ours is created 0700, tightened when looser, and refused as a symlink or a file', () => {
  const path = join(dir, 'state', 'hivebar');
  ensurePrivateDir(disk, path);
  assert.equal(readMode(path), 0o700);
  assert.deepEqual(warnings, []);
  fs.chmodSync(path, 0o755);
  ensurePrivateDir(disk, path);
  assert.equal(readMode(path), 0o700);
  assert.match(warnings[0] ?? '', /0755/);
  fs.chmodSync(dir, 0o755);
  ensurePrivateDir(disk, path);
  assert.equal(readMode(dir), 0o755, 'a parent is left as it is');

  fs.symlinkSync(path, join(dir, 'link'));
  fs.writeFileSync(join(dir, 'file'), '');
  assert.equal(fault(() => ensurePrivateDir(disk, join(dir, 'link'))).code, 'unwritable');
  assert.equal(fault(() => ensurePrivateDir(disk, join(dir, 'file'))).code, 'unwritable');
});
