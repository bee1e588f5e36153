import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeFiles, UID } from '../../test/kit/fake-files.ts';
import { Fault } from '../model/index.ts';
import { silentLog } from '../ports/index.ts';
import { readPrivate } from './safe-open.ts';

function holding(text: string) {
  const files = fakeFiles();
  files.put('/d/f', text);
  return { files, disk: { files, log: silentLog, uid: UID } };
}

test('a file is read whole, also when the system gives it in pieces', () => {
  const { files, disk } = holding('0123456789');
  const inPieces = {
    ...files,
    read: (fd: number, into: Uint8Array, at: number) => files.read(fd, into.subarray(0, 3), at),
  };
  assert.equal(Buffer.from(readPrivate({ ...disk, files: inPieces }, '/d/f', 100) ?? []).toString(), '0123456789');
  assert.equal(files.openDescriptors, 0);
});

test('of one that is too long one byte more than allowed is given, so that it can be told', () => {
  const { disk } = holding('0123456789');
  assert.equal(readPrivate(disk, '/d/f', 9)?.length, 10);
  assert.equal(readPrivate(disk, '/d/f', 4)?.length, 5);
});

test('nothing there is null; what cannot be read is said, and no descriptor stays open', () => {
  const { files, disk } = holding('x');
  assert.equal(readPrivate(disk, '/d/other', 9), null);
  const broken = {
    ...files,
    read: (): never => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    },
  };
  assert.throws(
    () => readPrivate({ ...disk, files: broken }, '/d/f', 9),
    (fault) => fault instanceof Fault && fault.code === 'unreadable',
  );
  assert.equal(files.openDescriptors, 0);
});
