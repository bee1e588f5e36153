import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Fault } from '../model/index.ts';
import { migrate, openDatabase, runTransaction } from './database.node.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'hivebar-database-'));
after(() => fs.rmSync(home, { recursive: true, force: true }));

let made = 0;
function freshPath(): string {
  made += 1;
  return join(home, `dir-${made}`, 'hivebar.sqlite');
}

const NOTES = ['CREATE TABLE notes (n INTEGER PRIMARY KEY AUTOINCREMENT, who TEXT NOT NULL) STRICT'];

function databaseFault(about: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, 'database');
    assert.match(error.message, about);
    return true;
  };
}

describe('opening the database', () => {
  test('creates a private file in a private directory, in WAL mode with every commit flushed', () => {
    const path = freshPath();
    using db = openDatabase(path);
    migrate(db, 'notes', NOTES);
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
    assert.equal(fs.statSync(`${path}-wal`).mode & 0o777, 0o600);
    assert.equal(fs.statSync(join(path, '..')).mode & 0o777, 0o700);
    assert.deepEqual({ ...db.prepare<object>('PRAGMA journal_mode').get() }, { journal_mode: 'wal' });
    assert.deepEqual({ ...db.prepare<object>('PRAGMA synchronous').get() }, { synchronous: 2 });
    assert.deepEqual({ ...db.prepare<object>('PRAGMA foreign_keys').get() }, { foreign_keys: 1 });
    assert.deepEqual({ ...db.prepare<object>('PRAGMA busy_timeout').get() }, { timeout: 5000 });
  });

  test('tightens a file that others could read', () => {
    const path = freshPath();
    openDatabase(path)[Symbol.dispose]();
    fs.chmodSync(path, 0o644);
    openDatabase(path)[Symbol.dispose]();
    assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  });

  test('refuses a symbolic link, a directory, and a directory that others may write to', () => {
    const target = freshPath();
    openDatabase(target)[Symbol.dispose]();
    const link = join(home, 'link.sqlite');
    fs.symlinkSync(target, link);
    assert.throws(() => openDatabase(link), databaseFault(/link\.sqlite is a symbolic link/));
    const dangling = join(home, 'dangling.sqlite');
    fs.symlinkSync(join(home, 'nowhere'), dangling);
    assert.throws(() => openDatabase(dangling), databaseFault(/symbolic link/));
    assert.equal(fs.existsSync(join(home, 'nowhere')), false);
    const directory = join(home, 'folder.sqlite');
    fs.mkdirSync(directory);
    assert.throws(() => openDatabase(directory), databaseFault(/not a regular file/));
    const open = join(home, 'open');
    fs.mkdirSync(open);
    fs.chmodSync(open, 0o777);
    assert.throws(() => openDatabase(join(open, 'hivebar.sqlite')), databaseFault(/written to by others/));
  });

  test('refuses what is no database, names it, and leaves it as it is', () => {
    const path = freshPath();
    fs.mkdirSync(join(path, '..'));
    const bytes = Buffer.from('not a database, and longer than the hundred bytes of a header '.repeat(40));
    fs.writeFileSync(path, bytes);
    assert.throws(() => openDatabase(path), databaseFault(/hivebar\.sqlite.*not a database/));
    assert.deepEqual(fs.readFileSync(path), bytes);
    assert.deepEqual(fs.readdirSync(join(path, '..')), ['hivebar.sqlite']);
  });

  test('a damaged page is a fault where it is met, never an empty answer', () => {
    const path = freshPath();
    {
      using db = openDatabase(path);
      migrate(db, 'notes', NOTES);
      runTransaction(db, () => {
        const insert = db.prepare('INSERT INTO notes (who) VALUES (?)');
        for (let i = 0; i < 2000; i += 1) insert.run(`somebody with a long name ${i}`);
      });
    }
    const bytes = fs.readFileSync(path);
    bytes.fill(0xff, 4096 * 3, 4096 * 8);
    fs.writeFileSync(path, bytes);
    using db = openDatabase(path);
    assert.throws(
      () => db.prepare('SELECT count(who) FROM notes WHERE who > ?').all('a'),
      databaseFault(/hivebar\.sqlite/),
    );
  });
});

describe('a statement about tables that are not there', () => {
  test('is a fault where it is made, so that a room notices as it opens', () => {
    using db = openDatabase(freshPath());
    assert.throws(() => db.prepare('SELECT n FROM notes'), databaseFault(/no such table: notes/));
  });

  test('is one where it is used, for a program that compiles what it uses; the others work', () => {
    using db = openDatabase(freshPath(), 100, 'when used');
    const notes = db.prepare('SELECT n FROM notes');
    assert.deepEqual({ ...db.prepare<object>('SELECT 1 AS one').get() }, { one: 1 });
    assert.throws(() => notes.get(), databaseFault(/no such table: notes/));
    migrate(db, 'notes', NOTES);
    assert.deepEqual(notes.all(), []);
  });
});

describe('migrations', () => {
  test('each room brings its own tables forward, once', () => {
    using db = openDatabase(':memory:');
    migrate(db, 'notes', NOTES);
    migrate(db, 'notes', NOTES);
    migrate(db, 'tags', ['CREATE TABLE tags (tag TEXT) STRICT']);
    db.prepare('INSERT INTO notes (who) VALUES (?)').run('ada');
    migrate(db, 'notes', [...NOTES, "ALTER TABLE notes ADD COLUMN color TEXT NOT NULL DEFAULT 'red'"]);
    assert.deepEqual({ ...db.prepare<object>('SELECT who, color FROM notes').get() }, { who: 'ada', color: 'red' });
    assert.deepEqual(
      db
        .prepare<object>("SELECT owner, version FROM schema_versions WHERE owner <> '=schema' ORDER BY owner")
        .all()
        .map((row) => ({ ...row })),
      [
        { owner: 'notes', version: 2 },
        { owner: 'tags', version: 1 },
      ],
    );
  });

  test('a step that fails leaves the tables at the version before', () => {
    using db = openDatabase(':memory:');
    migrate(db, 'notes', NOTES);
    assert.throws(
      () => migrate(db, 'notes', [...NOTES, 'CREATE TABLE more (x TEXT)', 'nonsense']),
      databaseFault(/nonsense/),
    );
    assert.deepEqual(db.prepare("SELECT name FROM sqlite_master WHERE name = 'more'").all(), []);
    migrate(db, 'notes', NOTES);
  });

  test('tables of a newer Hivebar are refused, with what to do', () => {
    using db = openDatabase(':memory:');
    migrate(db, 'notes', [...NOTES, 'CREATE TABLE more (x TEXT)']);
    assert.throws(
      () => migrate(db, 'notes', NOTES),
      databaseFault(/newer Hivebar \(notes is at version 2, this one knows 1\): start/),
    );
  });
});

describe('transactions', () => {
  test('all or nothing', () => {
    using db = openDatabase(':memory:');
    migrate(db, 'notes', NOTES);
    const insert = db.prepare('INSERT INTO notes (who) VALUES (?)');
    assert.throws(
      () =>
        runTransaction(db, () => {
          insert.run('ada');
          throw new Error('changed my mind');
        }),
      /changed my mind/,
    );
    assert.equal(
      runTransaction(db, () => insert.run('bo').lastInsertRowid),
      1,
    );
    assert.equal(db.isTransaction, false);
  });

  test('a full database is `no-space`, and the transaction is undone', () => {
    using db = openDatabase(freshPath());
    migrate(db, 'notes', NOTES);
    db.exec('PRAGMA max_page_count = 8');
    const insert = db.prepare('INSERT INTO notes (who) VALUES (?)');
    assert.throws(
      () => runTransaction(db, () => Array.from({ length: 1000 }, () => insert.run('x'.repeat(100)))),
      (error: unknown) => error instanceof Fault && error.code === 'no-space' && /hivebar\.sqlite/.test(error.message),
    );
    assert.equal(db.isTransaction, false);
    assert.deepEqual({ ...db.prepare<object>('SELECT count(*) AS n FROM notes').get() }, { n: 0 });
  });
});

describe('several processes', () => {
  const MODULE = JSON.stringify(new URL('./database.node.ts', import.meta.url).href);

  function child(path: string, name: string, count: number): ChildProcess {
    const script = `
      const { openDatabase, migrate, runTransaction } = await import(${MODULE});
      const db = openDatabase(${JSON.stringify(path)});
      migrate(db, 'notes', ${JSON.stringify(NOTES)});
      const insert = db.prepare('INSERT INTO notes (who) VALUES (?)');
      for (let i = 0; i < ${count}; i += 1) runTransaction(db, () => insert.run('${name}'));
      db[Symbol.dispose]();
    `;
    return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'inherit', 'inherit'] });
  }

  test('open a new file at the same moment, migrate it once, and lose no write', async () => {
    const path = freshPath();
    const names = ['a', 'b', 'c', 'd'];
    const children = names.map((name) => child(path, name, 100));
    const codes = await Promise.all(children.map(async (c) => (await once(c, 'exit'))[0]));
    assert.deepEqual(codes, [0, 0, 0, 0]);
    using db = openDatabase(path);
    const counts = db
      .prepare<{ who: string; n: number }>('SELECT who, count(*) AS n FROM notes GROUP BY who ORDER BY who')
      .all();
    assert.deepEqual(
      counts.map((row) => `${row.who} ${row.n}`),
      names.map((name) => `${name} 100`),
    );
  });

  test('a first start waits for another that is half-way through its own', async () => {
    const path = freshPath();
    fs.mkdirSync(join(path, '..'), { mode: 0o700 });
    const script = `
      const { DatabaseSync } = require('node:sqlite');
      const db = new DatabaseSync(${JSON.stringify(path)});
      db.exec('BEGIN IMMEDIATE; CREATE TABLE notes (n INTEGER)');
      console.log('begun');
      setTimeout(() => db.exec('COMMIT'), 150);
    `;
    const first = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(first.stdout, 'data');
    using db = openDatabase(path);
    assert.deepEqual(db.prepare('SELECT * FROM notes').all(), []);
    await once(first, 'exit');
  });

  test('a migration that another process has just made is not made again', () => {
    const path = freshPath();
    using otherDb = openDatabase(path);
    using ownDb = openDatabase(path);
    const late: typeof ownDb = {
      ...ownDb,
      exec(sql) {
        if (sql === 'BEGIN IMMEDIATE') migrate(otherDb, 'notes', NOTES);
        ownDb.exec(sql);
      },
    };
    migrate(late, 'notes', NOTES);
    assert.deepEqual(ownDb.prepare('SELECT * FROM notes').all(), []);
  });

  test('a commit survives kill -9 of the process that made it', async () => {
    const path = freshPath();
    const killed = child(path, 'ada', 1_000_000);
    using db = openDatabase(path);
    migrate(db, 'notes', NOTES);
    const count = db.prepare<{ n: number }>('SELECT count(*) AS n FROM notes');
    const seen = (): number => count.get()?.n ?? 0;
    while (seen() < 20) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = seen();
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    assert.ok(seen() >= before);
    const rows = db.prepare<{ n: number }>('SELECT n FROM notes ORDER BY n').all();
    assert.deepEqual(
      rows.map((row) => row.n),
      Array.from({ length: rows.length }, (_, i) => i + 1),
    );
  });
});
