import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Clock, realClock } from '../../../core/ports/index.ts';
import { type Database, openDatabase } from '../../../core/state/index.ts';
import { scratch } from '../../../test/kit/scratch.ts';
import { waitForStore } from './store-notices.node.ts';

/** A store with one table, which another connection writes. */
function rig() {
  const folder = scratch();
  const open = (): Database => openDatabase(folder.at('hivebar.sqlite'));
  const writer = open();
  writer.exec('CREATE TABLE IF NOT EXISTS t (n INTEGER)');
  const reads: number[] = [];
  const check = (db: Database) => {
    const n = db.prepare<{ n: number }>('SELECT count(*) AS n FROM t').get()?.n ?? 0;
    reads.push(n);
    return n > 0 ? ({ is: 'found', value: n } as const) : ({ is: 'nothing', againMs: null } as const);
  };
  let timers = 0;
  const clock: Clock = {
    ...realClock,
    after(ms, run) {
      timers += 1;
      return realClock.after(ms, run);
    },
  };
  return {
    ...{ folder, open, writer, reads, wait: { open, check, clock } },
    timers: () => timers,
    [Symbol.dispose]() {
      writer[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

const never = new AbortController().signal;

/** Resolves after the first check. */
async function untilRead(reads: readonly number[]): Promise<void> {
  while (reads.length === 0) await realClock.sleep(5, never);
}

describe('the wait for the store', () => {
  test('given something is there already, when it waits, then the first check finds it', async () => {
    using store = rig();
    store.writer.exec('INSERT INTO t VALUES (1)');
    assert.equal(await waitForStore(store.wait, never), 1);
    assert.deepEqual(store.reads, [1]);
  });

  test('given nothing is there, when another connection commits, then it is found, and no timer was set', async () => {
    using store = rig();
    const waited = waitForStore(store.wait, never);
    await untilRead(store.reads);
    assert.equal(store.timers(), 0);
    store.writer.exec('INSERT INTO t VALUES (1)');
    assert.equal(await waited, 1);
  });

  test('given a transaction is open, when it is committed, then no check came in between that missed it', async () => {
    using store = rig();
    store.writer.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (1)');
    const waited = waitForStore(store.wait, never);
    while (store.timers() + store.reads.length === 0) await realClock.sleep(5, never); // it is tried again
    assert.deepEqual(store.reads, []);
    store.writer.exec('COMMIT');
    assert.equal(await waited, 1);
    assert.deepEqual(store.reads, [1]);
  });

  test('given the store is replaced, when the new one is written, then that is found', async () => {
    using store = rig();
    const waited = waitForStore(store.wait, never);
    await untilRead(store.reads);
    for (const suffix of ['', '-wal', '-shm'])
      renameSync(store.folder.at(`hivebar.sqlite${suffix}`), store.folder.at(`old${suffix}`));
    using other = store.open();
    other.exec('CREATE TABLE IF NOT EXISTS t (n INTEGER); INSERT INTO t VALUES (1)');
    assert.equal(await waited, 1);
  });

  test('given an abort, before or while it waits, then it ends with nothing', async () => {
    using store = rig();
    const stop = new AbortController();
    const waited = waitForStore(store.wait, stop.signal);
    await untilRead(store.reads);
    stop.abort();
    assert.equal(await waited, null);
    assert.equal(await waitForStore(store.wait, stop.signal), null);
  });
});
