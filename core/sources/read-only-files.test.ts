import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { Fault } from '../model/index.ts';
import { type Files, O, realFiles } from '../ports/index.ts';
import { toReadOnlyFiles } from './source-tools.ts';

describe('a disk on which nothing can be changed', () => {
  const files = toReadOnlyFiles(realFiles, 'a-store');
  const isRefused = (run: () => unknown): void => {
    assert.throws(run, (error) => error instanceof Fault && error.scope.key === 'a-store' && error.code === 'internal');
  };

  test('is read as any other', () => {
    using place = scratch();
    const path = place.write('a', 'text');
    const fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
    const bytes = new Uint8Array(4);
    assert.equal(files.read(fd, bytes, 0), 4);
    assert.equal(files.fstat(fd).size, 4);
    files.close(fd);
    assert.deepEqual([files.readdir(place.dir), files.lstat(path)?.kind], [['a'], 'file']);
  });

  test('opens nothing that could be written, and has no call that writes', () => {
    using place = scratch();
    const path = place.write('a', 'text');
    for (const flag of [O.WRONLY, O.RDWR, O.CREAT, O.TRUNC, O.APPEND]) isRefused(() => files.open(path, flag, 0o600));
    const reads = new Set<keyof Files>(['open', 'read', 'fstat', 'close', 'readdir', 'lstat']);
    for (const name of Object.keys(realFiles) as (keyof Files)[]) {
      if (!reads.has(name)) isRefused(files[name] as () => unknown);
    }
    assert.equal(readFileSync(path, 'utf8'), 'text');
  });
});
