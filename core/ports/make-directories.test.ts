import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { realFiles } from './index.ts';

test('F9 given a path below /proc, to make its directories is an error and not a loop', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, () => {
  assert.throws(() => realFiles.mkdirAll('/proc/hivebar/state/run', 0o700), { code: 'ENOENT', syscall: 'mkdir' });
});

test('F9 given missing directories, all are made with the mode, and those that are there stay as they are', () => {
  using folder = scratch();
  realFiles.mkdirAll(folder.at('a', 'b', 'c'), 0o700);
  realFiles.mkdirAll(folder.at('a', 'b', 'c'), 0o700);
  for (const path of [folder.at('a'), folder.at('a', 'b'), folder.at('a', 'b', 'c')])
    assert.equal(statSync(path).mode & 0o777, 0o700);
});

test('F9 given a file in the way, it is said which', () => {
  using folder = scratch();
  folder.write('file', '');
  assert.throws(() => realFiles.mkdirAll(folder.at('file', 'below'), 0o700), {
    code: 'EEXIST',
    path: folder.at('file'),
  });
  assert.throws(() => realFiles.mkdirAll(folder.at('file'), 0o700), { code: 'EEXIST' });
});
