import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scratch } from '../../test/kit/scratch.ts';
import { isThere, shimNotes, standInShim } from '../../test/kit/shim-record.ts';
import { until } from '../../test/kit/until.ts';
import { realClock } from '../ports/index.ts';
import type { ShimProcess } from './shim.ts';
import { createShimStarter } from './shim-process.node.ts';

/** A stand-in shim as a process, what it said, and what it noted. */
function started(dir: { at(...names: string[]): string; dir: string }, ...words: readonly string[]) {
  const record = dir.at('record');
  const lines: (string | null)[] = [];
  let ended = 0;
  const shim: ShimProcess = createShimStarter(
    standInShim(record, ...words),
    process.env,
    realClock,
    dir.dir,
  )({
    line: (line) => lines.push(line),
    ended: () => {
      ended += 1;
    },
  });
  return { shim, lines, notes: () => shimNotes(record), ended: () => ended };
}

describe('a shim as a process', { skip: process.platform === 'win32' }, () => {
  test('runs in the folder of its project, reads lines and answers with lines', async () => {
    using dir = scratch();
    const { shim, lines, notes, ended } = started(dir);
    shim.write('{"id":1,"call":"status"}\n');
    await until('its answer', () => lines.length === 2);
    assert.deepEqual(lines, [
      'chatter that is no answer',
      '{"id":1,"ok":true,"alive":true,"accepting":true,"detail_class":"ready"}',
    ]);
    assert.equal(notes()[0]?.cwd, dir.dir);
    await shim.end();
    assert.equal(ended(), 1);
    assert.ok(shim.pid !== null && !isThere(shim.pid));
  });

  test('what it started ends with it, also when it ends by itself', async () => {
    for (const how of ['asked', 'by itself'] as const) {
      using dir = scratch();
      const { shim, notes, ended } = started(dir, 'child', 'dies');
      await until('its start', () => notes().length > 0);
      const child = notes()[0]?.child ?? 0;
      assert.ok(child > 0 && isThere(child));
      if (how === 'asked') await shim.end();
      else shim.write('{"id":1,"call":"notify_surface"}\n');
      await until('the end of both', () => ended() === 1 && !isThere(child));
    }
  });

  test('one that will not end is killed, and so is one that is frozen', async () => {
    for (const how of ['deaf', 'frozen'] as const) {
      using dir = scratch();
      const { shim, notes, ended } = started(dir, how, 'child');
      await until('its start', () => notes().length > 0);
      assert.ok(shim.pid !== null);
      if (how === 'frozen') process.kill(shim.pid, 'SIGSTOP');
      await shim.end();
      assert.equal(ended(), 1);
      assert.ok(!isThere(shim.pid));
      assert.equal(
        notes().some(({ is }) => is === 'asked to end'),
        how === 'deaf',
      );
    }
  });

  test('one that cannot be started has ended, and nothing was thrown', async () => {
    using dir = scratch();
    for (const command of [[dir.at('nothing')], [''], [], ['a\0b']]) {
      let ended = 0;
      const shim = createShimStarter(command, {}, realClock, dir.dir)({ line: () => {}, ended: () => (ended += 1) });
      shim.write('a line into nothing\n');
      await until(`the end of ${JSON.stringify(command)}`, () => ended === 1);
      await shim.end();
    }
    let ended = 0;
    createShimStarter(
      ['true'],
      process.env,
      realClock,
      dir.at('no', 'folder'),
    )({ line: () => {}, ended: () => (ended += 1) });
    await until('the end in no folder', () => ended === 1);
  });

  test('a line that has no end is told as such, once, and nothing after it', async () => {
    using dir = scratch();
    const { shim, lines } = started(dir, 'floods');
    await until('the end of the line', () => lines.length === 1);
    shim.write('{"id":1,"call":"status"}\n');
    await shim.end();
    assert.deepEqual(lines, [null]);
  });

  test('a shim that is gone takes a line without harm', async () => {
    using dir = scratch();
    const { shim, ended } = started(dir, 'ends');
    await until('its end', () => ended() === 1);
    shim.write('{"id":1,"call":"status"}\n');
    await shim.end();
    assert.equal(ended(), 1);
  });
});
