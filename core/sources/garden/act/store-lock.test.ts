import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { garden, handAt } from '../../../../test/kit/garden-store.ts';
import { computeGardenPlaces, listRecords } from '../read/index.ts';
import { runLocked } from './write-context.ts';

const WORKER = fileURLToPath(import.meta.resolve('../../../../test/kit/garden-upserts.ts'));
const { disk } = handAt();

describe('who writes records alone', () => {
  test('two processes that upsert the same sessions at the same moments make one record of each', async () => {
    using store = garden();
    const count = 150;
    const begin = Date.now() + 1500;
    const start = async (): Promise<{ code: unknown; made: number }> => {
      const args = [WORKER, store.store, store.at('locks'), `${count}`, `${begin}`];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
      const [code] = await once(child, 'close');
      return { code, made: out.split('\n').length - 1 };
    };
    const ended = await Promise.all([start(), start()]);
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0],
    );
    const { records, errors } = listRecords(disk, store.places.sessions);
    assert.deepEqual(errors, []);
    assert.equal(new Set(records.map(({ nativeSessionId }) => nativeSessionId)).size, count);
    assert.equal(records.length, count);
    assert.equal(
      ended.reduce((sum, { made }) => sum + made, 0),
      count,
    );
  });

  test('is who is at work on the store, whichever way it is named', () => {
    using store = garden();
    mkdirSync(store.places.sessions);
    symlinkSync(store.store, store.at('other'));
    const other = computeGardenPlaces({ store: store.at('other'), env: {}, home: '/h', cwd: '/c' });
    const locks = store.at('locks');
    const inner = (places: typeof other) => runLocked(disk, locks, places, 0, () => 'in');
    assert.deepEqual(
      runLocked(disk, locks, store.places, 0, () => inner(other)),
      { is: 'done', value: { is: 'held' } },
    );
    using second = garden();
    assert.deepEqual(
      runLocked(disk, locks, store.places, 0, () => inner(second.places)),
      { is: 'done', value: { is: 'done', value: 'in' } },
    );
    assert.deepEqual(inner(other), { is: 'done', value: 'in' });
    assert.deepEqual(readdirSync(store.store), ['meta-sessions']);
  });

  test('is nobody when what is done throws', () => {
    using store = garden();
    const run = (work: () => string) => runLocked(disk, store.at('locks'), store.places, 0, work);
    assert.throws(
      () =>
        run(() => {
          throw new Error('no');
        }),
      /^Error: no$/,
    );
    assert.deepEqual(
      run(() => 'yes'),
      { is: 'done', value: 'yes' },
    );
  });

  test('has its lock nowhere in the store', () => {
    using store = garden('store');
    symlinkSync(store.places.mailbox, store.at('link'));
    const before = store.tree();
    for (const locks of [store.places.sessions, join(store.places.mailbox, 'a/b'), store.at('link/c')]) {
      assert.throws(() => runLocked(disk, locks, store.places, 0, () => 'in'), {
        code: 'garden',
        message: /: give HIVEBAR_HOME another place$/,
      });
    }
    assert.deepEqual(store.tree(), before);
  });
});
