import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type FakeFiles, fakeFiles, UID } from '../../test/kit/fake-files.ts';
import { Fault } from '../model/index.ts';
import { realRandom, silentLog } from '../ports/index.ts';
import { createAtomically, sweepTemps, writeAtomically } from './atomic-write.ts';
import { createRealDisk } from './disk.node.ts';
import type { Disk } from './safe-open.ts';

const PATH = '/d/hive.json';
const createDisk = (files: FakeFiles): Disk => ({ files, log: silentLog, uid: UID });

/** A write of `new` over `old` with one mishap; the fault it ended with, or null. */
function attempt(files: FakeFiles): Fault | null {
  try {
    writeAtomically(createDisk(files), realRandom, PATH, 'new');
    return null;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
}

test('a written file is private, complete, and leaves nothing else behind', () => {
  const files = fakeFiles();
  files.put(PATH, 'old');
  assert.equal(attempt(files), null);
  assert.equal(files.text(PATH), 'new');
  assert.deepEqual(files.list('/d'), [PATH]);
  assert.equal(files.lstat(PATH)?.mode, 0o600);
  assert.equal(files.openDescriptors, 0);
});

test('a call that fails, whichever it is, leaves the old text or the new, no temporary file and no descriptor', () => {
  const clean = fakeFiles();
  clean.put(PATH, 'old');
  clean.mishaps(() => null);
  attempt(clean);
  assert.ok(clean.calls.length >= 8, 'open, write, fsync, close, rename, and open, fsync, close of the directory');
  for (const [code, expected] of [
    ['ENOSPC', 'no-space'],
    ['EACCES', 'unwritable'],
    ['EIO', 'unwritable'],
  ] as const) {
    clean.calls.forEach((call, nth) => {
      const files = fakeFiles();
      files.put(PATH, 'old');
      files.mishaps((_, index) => (index === nth ? { is: 'fails', code } : null));
      const fault = attempt(files);
      const about = `${code} at call ${nth}, ${call.name}`;
      assert.equal(fault?.code, expected, about);
      assert.ok(fault?.message.startsWith(PATH), about);
      const renamed = nth > clean.calls.findIndex((c) => c.name === 'rename');
      assert.equal(files.text(PATH), renamed ? 'new' : 'old', about);
      assert.deepEqual(files.list('/d'), [PATH], about);
      assert.equal(files.openDescriptors, 0, about);
    });
  }
});

test('trap 5: a directory that cannot be flushed leaves the new text, and a fault that says what a power cut may do', () => {
  const files = fakeFiles();
  files.put(PATH, 'old');
  files.mishaps((call) => (call.name === 'fsync' && call.path === '/d' ? { is: 'fails', code: 'EIO' } : null));
  const fault = attempt(files);
  assert.equal(files.text(PATH), 'new');
  assert.match(fault?.message ?? '', /^\/d\/hive\.json: written, but a power cut may bring the old one back: \/d: /);
});

test('a short write is continued', () => {
  const files = fakeFiles();
  files.mishaps((call) => (call.name === 'write' ? { is: 'writes', bytes: 1 } : null));
  assert.equal(attempt(files), null);
  assert.equal(files.text(PATH), 'new');
});

test('trap 5: a power cut before any call leaves the old text or the new, and the new once the call has returned', () => {
  for (let nth = 0; ; nth += 1) {
    const files = fakeFiles();
    files.put(PATH, 'old');
    let cut = false;
    files.mishaps((_, index) => {
      cut ||= index === nth;
      return cut ? { is: 'fails', code: 'EIO' } : null;
    });
    attempt(files);
    files.mishaps(null);
    files.powerCut();
    assert.ok(['old', 'new'].includes(files.text(PATH) ?? ''), `at call ${nth}: ${files.text(PATH)}`);
    if (!cut) {
      assert.equal(files.text(PATH), 'new');
      return;
    }
  }
});

test('missing directories are made', () => {
  const files = fakeFiles();
  writeAtomically(createDisk(files), realRandom, '/d/a/b/hive.json', 'new');
  assert.equal(files.text('/d/a/b/hive.json'), 'new');
  assert.equal(files.lstat('/d/a')?.mode, 0o700);
});

test('D25: a sweep removes what a kill left for this file, and nothing of another', () => {
  const files = fakeFiles();
  const killed = (path: string): void => {
    files.mishaps((call) => (['rename', 'unlink'].includes(call.name) ? { is: 'fails', code: 'EIO' } : null));
    assert.throws(() => writeAtomically(createDisk(files), realRandom, path, 'half'));
    files.mishaps(null);
  };
  killed(PATH);
  killed(PATH);
  killed('/d/hive.other.json');
  assert.equal(files.list('/d').length, 3);
  for (const path of files.list('/d')) assert.match(path, /^\/d\/\.kijmon-.*\.tmp$/);
  assert.equal(sweepTemps(createDisk(files), PATH), 2);
  assert.equal(files.list('/d').length, 1);
  assert.equal(sweepTemps(createDisk(files), '/d/hive.other.json'), 1);
  assert.equal(sweepTemps(createDisk(files), '/nowhere/hive.json'), 0);
});

test('on the real disk: replaced, private, nothing left over', () => {
  const dir = fs.mkdtempSync(join(tmpdir(), 'hivebar-atomic-'));
  try {
    const path = join(dir, 'x', 'hive.json');
    for (const text of ['one', 'two']) writeAtomically(createRealDisk(silentLog), realRandom, path, text);
    assert.equal(fs.readFileSync(path, 'utf8'), 'two');
    assert.deepEqual(fs.readdirSync(join(dir, 'x')), ['hive.json']);
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    fs.mkdirSync(join(dir, 'folder'));
    assert.throws(() => writeAtomically(createRealDisk(silentLog), realRandom, join(dir, 'folder'), 'x'), {
      code: 'unwritable',
    });
    assert.deepEqual(fs.readdirSync(dir).sort(), ['folder', 'x']);
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
});

describe('a file that must be new', () => {
  const create = (files: FakeFiles): boolean => createAtomically(createDisk(files), realRandom, PATH, 'new');

  test('is private and complete, and nothing else is left', () => {
    const files = fakeFiles();
    assert.equal(create(files), true);
    assert.equal(files.text(PATH), 'new');
    assert.deepEqual(files.list('/d'), [PATH]);
    assert.deepEqual([files.lstat(PATH)?.mode, files.openDescriptors], [0o600, 0]);
  });

  test('never takes the place of what is there, be it a file or a symlink to nowhere', () => {
    const files = fakeFiles();
    files.put(PATH, 'old');
    assert.equal(create(files), false);
    assert.equal(files.text(PATH), 'old');
    assert.deepEqual(files.list('/d'), [PATH]);
    const linked = fakeFiles();
    linked.symlink(PATH, '/d/nowhere');
    assert.equal(create(linked), false);
    assert.deepEqual(linked.list('/d'), [PATH]);
  });

  test('is there whole or not at all, whichever call fails', () => {
    const clean = fakeFiles();
    clean.mishaps(() => null);
    create(clean);
    for (let failing = 0; failing < clean.calls.length; failing += 1) {
      const files = fakeFiles();
      files.mishaps((_, index) => (index === failing ? { is: 'fails', code: 'EIO' } : null));
      try {
        create(files);
      } catch (error) {
        assert.ok(error instanceof Fault, String(error));
      }
      assert.match(files.text(PATH) ?? 'new', /^new$/);
      assert.equal(files.openDescriptors, 0);
    }
  });

  test('on the real disk', () => {
    const directory = fs.mkdtempSync(join(tmpdir(), 'hivebar-create-'));
    const path = join(directory, 'a', 'record.json');
    assert.equal(createAtomically(createRealDisk(silentLog), realRandom, path, 'one'), true);
    assert.equal(createAtomically(createRealDisk(silentLog), realRandom, path, 'two'), false);
    assert.equal(fs.readFileSync(path, 'utf8'), 'one');
    assert.deepEqual(fs.readdirSync(join(directory, 'a')), ['record.json']);
    fs.rmSync(directory, { recursive: true });
  });
});
