import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Scratch, scratch } from '../../test/kit/scratch.ts';
import { openSqliteWriter, type SqliteWriter } from '../../test/kit/sqlite-writer.ts';
import { describeTree } from '../../test/kit/watched-tree.ts';
import { realClock } from '../ports/index.ts';
import { type PeekedDatabase, peekSqlite, type SqlitePeek, toPeekFault } from './sqlite-peek.node.ts';

let folder: Scratch;
let path: string;
const writers: SqliteWriter[] = [];
beforeEach(() => {
  folder = scratch();
  path = folder.at('theirs.sqlite');
});
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.kill();
  folder[Symbol.dispose]();
});

async function openWriter(...statements: string[]): Promise<SqliteWriter> {
  const writer = await openSqliteWriter(path, ...statements);
  writers.push(writer);
  return writer;
}

const CREATE = ['PRAGMA journal_mode = WAL', 'CREATE TABLE t (n INTEGER)', 'INSERT INTO t VALUES (1)'];
const count = (db: PeekedDatabase): number => db.get<{ n: number }>('SELECT count(*) AS n FROM t')?.n ?? -1;
const peek = (): Promise<SqlitePeek<number>> =>
  peekSqlite(path, count, { clock: realClock, signal: new AbortController().signal });

async function assertCount(n: number): Promise<void> {
  const seen = await peek();
  assert.ok(seen.is === 'read', JSON.stringify(seen));
  assert.equal(seen.value, n);
}

describe('a database of somebody else', () => {
  test('with a writer that has it open is read, and no file of it is touched, the -shm included', async () => {
    const writer = await openWriter(...CREATE);
    const before = describeTree(folder.dir);
    await assertCount(1);
    assert.deepEqual(describeTree(folder.dir), before);
    await writer.run('INSERT INTO t VALUES (2)');
    await assertCount(2);
    await writer.run('PRAGMA wal_checkpoint(TRUNCATE)');
    await assertCount(2);
    await writer.run('INSERT INTO t VALUES (3)');
    await assertCount(3);
  });

  test('whose writer was killed, so that all is in the -wal, is read and stays as it is', async () => {
    await (await openWriter(...CREATE)).kill();
    assert.ok(fs.statSync(`${path}-wal`).size > 0);
    const before = describeTree(folder.dir);
    await assertCount(1);
    assert.deepEqual(describeTree(folder.dir), before);
  });

  test('that was copied without its -shm is read, and gets none', async () => {
    await (await openWriter(...CREATE)).kill();
    fs.rmSync(`${path}-shm`);
    const before = describeTree(folder.dir);
    await assertCount(1);
    assert.deepEqual(describeTree(folder.dir), before);
  });

  test('that was closed has no side files, is read, and gets none', async () => {
    await (await openWriter(...CREATE)).close();
    assert.deepEqual(folder.list(), ['theirs.sqlite']);
    const before = describeTree(folder.dir);
    await assertCount(1);
    assert.deepEqual(describeTree(folder.dir), before);
  });

  test('of which only the main file is left has no table: another form, and not empty', async () => {
    await (await openWriter(...CREATE)).kill();
    for (const end of ['-wal', '-shm']) fs.rmSync(`${path}${end}`);
    const seen = await peek();
    assert.equal(seen.is, 'schema');
    assert.ok(seen.is === 'schema');
    const fault = toPeekFault(seen, path, { is: 'machine', key: 'x' });
    assert.deepEqual([fault.code, fault.message], ['schema', `${path} has another form: no such table: t`]);
    assert.deepEqual(folder.list(), ['theirs.sqlite']);
  });

  test('that somebody holds alone is busy for a while, does not block this process, and is read when it is free', async () => {
    const writer = await openWriter(...CREATE, 'PRAGMA locking_mode = EXCLUSIVE', 'INSERT INTO t VALUES (2)');
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 10);
    const start = performance.now();
    const seen = await peek();
    clearInterval(ticking);
    assert.equal(seen.is, 'busy');
    assert.ok(performance.now() - start >= 240);
    assert.ok(ticks >= 5, `${ticks}`);
    await writer.close();
    await assertCount(2);
  });

  test('that a writer works on all the time is always whole: the counts rise, and none is missing', async () => {
    const writer = await openWriter(...CREATE, 'PRAGMA wal_autocheckpoint = 5');
    let over = false;
    let written = 1;
    const writing = (async () => {
      for (; written < 400; written += 1) await writer.run('INSERT INTO t VALUES (2)');
      over = true;
    })();
    let last = 1;
    let peeks = 0;
    while (!over) {
      const [atLeast, seen] = [written, await peek()];
      assert.ok(seen.is === 'read', JSON.stringify(seen));
      assert.ok(seen.value >= atLeast && seen.value >= last, `${seen.value} of ${atLeast}`);
      last = seen.value;
      peeks += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    assert.ok(peeks > 20, `${peeks}`);
    await assertCount(400);
  });

  test('that is opened and closed by others all the time gets no file of ours', async () => {
    await (await openWriter(...CREATE)).close();
    let over = false;
    const others = (async () => {
      for (let n = 0; n < 5; n += 1) await (await openWriter('INSERT INTO t VALUES (2)')).close();
      over = true;
    })();
    while (!over) {
      const seen = await peek();
      assert.ok(seen.is === 'read' || seen.is === 'busy', JSON.stringify(seen));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await others;
    await (await openWriter('INSERT INTO t VALUES (2)')).close(); // one that nobody met while it closed
    await assertCount(7);
    assert.deepEqual(folder.list(), ['theirs.sqlite']);
  });

  test('that is checkpointed or replaced during the reading is read again', async () => {
    await (await openWriter(...CREATE)).close();
    let readings = 0;
    const seen = await peekSqlite(
      path,
      (db) => {
        readings += 1;
        if (readings === 1) fs.appendFileSync(path, Buffer.alloc(4096));
        return count(db);
      },
      { clock: realClock, signal: new AbortController().signal },
    );
    assert.deepEqual([seen.is, readings], ['read', 2]);
  });

  test('that is damaged, no database, a link, a folder or absent is named so', async () => {
    assert.equal((await peek()).is, 'absent');
    folder.write('theirs.sqlite', 'this is no database at all. '.repeat(100));
    assert.equal((await peek()).is, 'malformed');
    fs.rmSync(path);
    await (await openWriter(...CREATE)).close();
    const bytes = fs.readFileSync(path);
    fs.writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(4096, 0xff)]));
    assert.equal((await peek()).is, 'malformed');
    fs.renameSync(path, folder.at('real.sqlite'));
    fs.symlinkSync(folder.at('real.sqlite'), path);
    assert.deepEqual(await peek(), { is: 'unreadable', why: 'it is a symbolic link, which is refused' });
    fs.rmSync(path);
    fs.mkdirSync(path);
    assert.deepEqual(await peek(), { is: 'unreadable', why: 'it is not a regular file' });
  });

  test('of which a number is larger than a number can be has another form', async () => {
    await (await openWriter(...CREATE, 'UPDATE t SET n = 9223372036854775807')).close();
    const signal = new AbortController().signal;
    const seen = await peekSqlite(path, (db) => db.all('SELECT n FROM t'), { clock: realClock, signal });
    assert.equal(seen.is, 'schema');
  });

  test('an error of the reader itself is thrown', async () => {
    await (await openWriter(...CREATE)).close();
    const signal = new AbortController().signal;
    const read = (): never => {
      throw new RangeError('mine');
    };
    await assert.rejects(peekSqlite(path, read, { clock: realClock, signal }), /mine/);
  });
});
