import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RENAME_WITHIN_MS, type RenameCalls, renamePatiently, renamePatientlyAsync, repeatWhileBusy } from './files.ts';

/** A disk on which a reader holds the target until a moment. */
function heldUntil(moment: number, code = 'EPERM'): RenameCalls & { readonly now: number; readonly tries: number } {
  let now = 0;
  let tries = 0;
  return {
    get now() {
      return now;
    },
    get tries() {
      return tries;
    },
    rename() {
      tries += 1;
      if (now < moment) throw Object.assign(new Error(`${code}: not permitted`), { code });
    },
    monotonic: () => now,
    pause(ms) {
      assert.ok(ms > 0);
      now += ms;
    },
  };
}

describe('a rename', () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    test(`G5 given a reader on Windows (${code}) that is done in time, the rename succeeds`, () => {
      const disk = heldUntil(1900, code);
      renamePatiently(disk, true, 'a', 'b');
      assert.ok(disk.tries > 5 && disk.tries < 60, `${disk.tries} tries`);
    });
  }

  test('G5 given a reader on Windows that stays, the error is thrown after two seconds', () => {
    const disk = heldUntil(Number.POSITIVE_INFINITY);
    assert.throws(() => renamePatiently(disk, true, 'a', 'b'), { code: 'EPERM' });
    assert.equal(disk.now, RENAME_WITHIN_MS);
  });

  test('G5 given another failure, or another system, the first error is thrown', () => {
    for (const [code, isWindows] of [
      ['ENOSPC', true],
      ['EACCES', false],
    ] as const) {
      const disk = heldUntil(100, code);
      assert.throws(() => renamePatiently(disk, isWindows, 'a', 'b'), { code });
      assert.equal(disk.tries, 1);
    }
  });

  test('G5 given another way to write a file on Windows, it is repeated as a rename is', () => {
    const disk = heldUntil(1900);
    repeatWhileBusy(disk, true, () => disk.rename('a', 'b'));
    assert.ok(disk.now >= 1900 && disk.now < RENAME_WITHIN_MS, `${disk.now}`);
  });

  test('G5 given a program that may not be held up, the rename waits by its timer', async () => {
    const disk = heldUntil(1900);
    const calls = { ...disk, rename: async () => disk.rename('a', 'b'), sleep: async (ms: number) => disk.pause(ms) };
    await renamePatientlyAsync(calls, true, 'a', 'b');
    assert.ok(disk.now >= 1900);
  });
});
