import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { copyStore, type Database, migrate, openStore, readStoreReport, runTransaction, toCopyPath } from './index.ts';

const root = mkdtempSync(join(tmpdir(), 'hivebar-store-'));
after(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

const formatRow = (n: number): string => `row ${n} ${'é😀'.repeat(n % 90)}`;

function fill(db: Database, from: number, to: number): void {
  db.exec(
    'CREATE TABLE IF NOT EXISTS inbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, persona TEXT NOT NULL, content TEXT NOT NULL) STRICT',
  );
  db.exec('CREATE INDEX IF NOT EXISTS by_persona ON inbox (persona)');
  db.exec('CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT) STRICT, WITHOUT ROWID');
  runTransaction(db, () => {
    for (let n = from; n <= to; n += 1) {
      db.prepare('INSERT INTO inbox (persona, content) VALUES (?, ?)').run('ada', formatRow(n));
      db.prepare('INSERT INTO kept VALUES (?, ?)').run(`k${n}`, formatRow(n));
    }
  });
}

/** A closed store of `rows` rows, of which the copy has the first `copied`. */
function store(rows = 200, copied = 150): string {
  made += 1;
  const path = join(root, String(made), 'hivebar.sqlite');
  using db = openStore(path);
  fill(db, 1, copied);
  if (copied > 0) copyStore(db);
  fill(db, copied + 1, rows);
  return path;
}

const readRows = (db: Database) =>
  db.prepare<{ seq: number; content: string }>('SELECT seq, content FROM inbox ORDER BY seq').all();
const setAside = (path: string): string[] => readdirSync(join(path, '..')).filter((name) => name.includes('.damaged-'));

describe('a store that is damaged', () => {
  for (const [label, harm, least] of [
    ['garbage', (path: string) => writeFileSync(path, Buffer.alloc(50_000, 'no database')), 150],
    [
      'a bad header',
      (path: string) => writeFileSync(path, Buffer.concat([Buffer.alloc(100, 7), readFileSync(path).subarray(100)])),
      200,
    ],
    [
      'a file that was cut',
      (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096 + 100),
      150,
    ],
    ['an empty file', (path: string) => truncateSync(path, 0), 150],
    ['no file', (path: string) => rmSync(path), 150],
  ] as const) {
    test(`A3 given ${label}, it opens with what can be read and what the copy has, and the report says so`, () => {
      const path = store();
      harm(path);
      using db = openStore(path, { checks: true });
      const rows = readRows(db);
      assert.ok(rows.length >= least, `${rows.length} rows`);
      for (const { seq, content } of rows) assert.equal(content, formatRow(seq));
      const report = readStoreReport(path);
      assert.notEqual(report, null);
      assert.ok(report?.copyOf !== null);
      const isThere = label !== 'no file' && label !== 'an empty file';
      assert.equal(report?.setAside !== null, isThere);
      assert.equal(setAside(path).length, isThere ? 1 : 0);
      for (const name of setAside(path)) assert.equal(statSync(join(path, '..', name)).mode & 0o777, 0o600);
      fill(db, 1000, 1001);
    });
  }

  test('A3 given a bad page in the middle, the rows around it are recovered and the copy has the others', () => {
    const path = store(600, 500);
    const bytes = readFileSync(path);
    for (const page of [12, 13]) bytes.fill(0xa5, page * 4096, (page + 1) * 4096);
    writeFileSync(path, bytes);
    using db = openStore(path, { checks: true });
    const rows = readRows(db);
    for (const { seq, content } of rows) assert.equal(content, formatRow(seq));
    assert.ok(rows.length >= 560, `${rows.length} of 600`);
    assert.ok(
      rows.some(({ seq }) => seq === 600),
      'also those after the copy',
    );
  });

  test('A4 given a trigger whose text was changed, the tables of the copy are taken, with all rows', () => {
    const path = store(30, 20);
    {
      using db = openStore(path);
      migrate(db, 'room', [
        'CREATE TABLE room (n INTEGER) STRICT; CREATE TRIGGER t AFTER INSERT ON room BEGIN DELETE FROM kept; END',
      ]);
      copyStore(db);
    }
    const bytes = readFileSync(path);
    bytes.write('room', bytes.indexOf('DELETE FROM kept') + 'DELETE FROM '.length);
    writeFileSync(path, bytes);
    using db = openStore(path, { checks: true });
    const trigger = db.prepare<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 't'").get();
    assert.match(String(trigger?.sql), /DELETE FROM kept/);
    assert.equal(readRows(db).length, 30);
    assert.match(String(readStoreReport(path)?.problem), /text of its tables/);
  });

  test('A3 given a damaged entry of an index, the start finds it, and every row is there', () => {
    const path = store(200, 150);
    let page = 0;
    {
      using db = openStore(path);
      const index = db.prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_master WHERE name = 'by_persona'");
      page = index.get()?.rootpage ?? 0;
    }
    const bytes = readFileSync(path);
    const at = bytes.indexOf('ada', (page - 1) * 4096 + 2048);
    assert.ok(page > 0 && at > 0 && at < page * 4096, 'the index has one page');
    bytes.write('eve', at);
    writeFileSync(path, bytes);
    {
      using db = openStore(path);
      assert.equal(db.prepare<{ quick_check: string }>('PRAGMA quick_check').get()?.quick_check, 'ok');
    }
    using db = openStore(path, { checks: true });
    assert.match(String(readStoreReport(path)?.problem), /by_persona/);
    const found = db
      .prepare<{ seq: number }>("SELECT seq FROM inbox INDEXED BY by_persona WHERE persona = 'ada'")
      .all();
    assert.equal(found.length, 200);
  });

  test('A3 given no copy, what can be read is recovered', () => {
    const path = store(300, 0);
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 10 * 4096, 11 * 4096);
    writeFileSync(path, bytes);
    using db = openStore(path, { checks: true });
    assert.ok(readRows(db).length > 150, `${readRows(db).length}`);
    assert.equal(readStoreReport(path)?.copyOf, null);
  });

  test('A3 given a missing file beside event files, it is told', () => {
    made += 1;
    const folder = join(root, String(made));
    mkdirSync(join(folder, 'events'), { recursive: true });
    writeFileSync(join(folder, 'events', 'events.ada.ndjson'), '{}\n');
    const path = join(folder, 'hivebar.sqlite');
    using _db = openStore(path);
    assert.equal(readStoreReport(path)?.problem, 'is missing');
  });

  test('A3 given a first start, nothing is told', () => {
    made += 1;
    const path = join(root, String(made), 'hivebar.sqlite');
    using db = openStore(path, { checks: true });
    fill(db, 1, 2);
    assert.equal(readStoreReport(path), null);
    assert.deepEqual(setAside(path), []);
  });

  test('A3 given damage, the last good copy stays', () => {
    const path = store(300, 200);
    const before = readFileSync(toCopyPath(path));
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 8 * 4096, 9 * 4096);
    writeFileSync(path, bytes);
    using db = openStore(path);
    assert.throws(() => copyStore(db));
    assert.ok(readFileSync(toCopyPath(path)).equals(before));
    assert.equal(existsSync(`${toCopyPath(path)}.tmp`), false);
    assert.equal(statSync(toCopyPath(path)).mode & 0o777, 0o600);
  });

  test('A3 given damage that a copy would pass over, the last good copy stays', () => {
    const path = store(300, 200);
    const before = readFileSync(toCopyPath(path));
    const bytes = readFileSync(path);
    let leaf = 4096;
    while (leaf < bytes.length && bytes[leaf] !== 0x0d) leaf += 4096; // rows of a table
    bytes[leaf + 7] = (bytes[leaf + 7] ?? 0) + 1; // how many bytes are free between them
    writeFileSync(path, bytes);
    using db = openStore(path);
    assert.throws(() => copyStore(db), /is damaged: .*ragmentation/s);
    assert.ok(readFileSync(toCopyPath(path)).equals(before));
  });

  test('A3 given a file that was replaced while it is open, nothing is written where nobody would find it', () => {
    const path = store(10, 5);
    using db = openStore(path);
    copyFileSync(path, `${path}.other`);
    rmSync(path);
    copyFileSync(`${path}.other`, path);
    assert.throws(() => runTransaction(db, () => {}), { code: 'database', message: /replaced or deleted/ });
  });
});
