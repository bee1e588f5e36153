import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeAll } from './files.ts';

/** Accepts at most three bytes per call, and no more than `room` in all. */
function smallDisk(room: number) {
  const written: number[] = [];
  const write = (_fd: number, bytes: Uint8Array): number => {
    const accepted = bytes.subarray(0, Math.min(3, room - written.length));
    written.push(...accepted);
    return accepted.length;
  };
  return { written, write };
}

const BYTES = Uint8Array.from([1, 2, 3, 4, 5, 6, 7]);

test('all bytes are written, with as many calls as it takes', () => {
  const disk = smallDisk(100);
  writeAll(disk, 5, BYTES);
  assert.deepEqual(disk.written, [...BYTES]);
});

test('a disk that accepts nothing is an error and not a loop without end', () => {
  const disk = smallDisk(4);
  assert.throws(() => writeAll(disk, 5, BYTES), /the disk accepts no more bytes/);
  assert.deepEqual(disk.written, [1, 2, 3, 4]);
});
