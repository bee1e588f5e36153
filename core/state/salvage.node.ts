import * as fs from 'node:fs';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** The result for the rows of one table. */
export interface TableSalvage {
  readonly table: string;
  /** How many rows the damaged file still had. */
  readonly read: number;
  /** How many rows only the copy had. */
  readonly fromCopy: number;
  /** Reading failed at least once, so rows that are newer than the copy may be missing. */
  readonly isBroken: boolean;
}

interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

type SalvageRow = Readonly<Record<string, SQLInputValue>>;

/** How many ids are tried behind a place that cannot be read, before the rest of a table is given up. */
const MOST_SEEKS = 5000;
const LONGEST_STEP = 16;

/**
 * Creates a new database at `target` from all rows that can be read in `damaged`, and from those that only `copy` has when
 * reading failed. Knows nothing about the meaning of the tables. Null when neither file can be read at all; then nothing was
 * created.
 *
 * @param damaged null when there is no such file
 * @param isSchemaBad the SQL text of its tables cannot be trusted, so that of the copy is used
 */
export function salvage(
  damaged: string | null,
  copy: string | null,
  target: string,
  isSchemaBad = false,
): readonly TableSalvage[] | null {
  using files = new DisposableStack();
  const open = (path: string | null): DatabaseSync | null => {
    const db = path === null ? null : tryOpen(path);
    if (db !== null) files.defer(() => db.close());
    return db;
  };
  const bad = open(damaged);
  const good = open(copy);
  const badSchema = bad === null ? null : readSchema(bad);
  const goodSchema = good === null ? null : readSchema(good);
  const schema = isSchemaBad ? (goodSchema ?? badSchema) : (badSchema ?? goodSchema);
  if (schema === null) return null;
  for (const suffix of ['', '-wal', '-shm', '-journal']) fs.rmSync(target + suffix, { force: true });
  fs.closeSync(fs.openSync(target, 'wx', 0o600));
  const sqlite = process.getBuiltinModule('node:sqlite');
  const rebuilt = new sqlite.DatabaseSync(target, { enableForeignKeyConstraints: false });
  files.defer(() => rebuilt.close());
  rebuilt.exec('PRAGMA synchronous = OFF; BEGIN');
  const tables = schema.filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'));
  for (const { sql } of tables) rebuilt.exec(sql);
  const salvaged = tables.map(({ name }) => salvageTable(name, badSchema === null ? null : bad, good, rebuilt));
  for (const db of [good, badSchema === null ? null : bad]) if (db !== null) takeSequences(db, rebuilt);
  // Triggers are created only now: what they would count was counted when the rows were first inserted.
  for (const { type, sql } of schema) if (type !== 'table') rebuilt.exec(sql);
  rebuilt.exec('COMMIT; PRAGMA synchronous = FULL');
  const flaws = rebuilt.prepare('PRAGMA quick_check(1)').all();
  if (flaws[0]?.quick_check !== 'ok')
    throw new Error(`the recovered data is damaged too: ${String(flaws[0]?.quick_check)}`);
  flush(target);
  return salvaged;
}

function tryOpen(path: string): DatabaseSync | null {
  const sqlite = process.getBuiltinModule('node:sqlite');
  try {
    return new sqlite.DatabaseSync(path, { timeout: 2000 });
  } catch {
    return null; // the file cannot even be opened, so nothing in it can be read
  }
}

function readSchema(db: DatabaseSync): readonly SchemaEntry[] | null {
  try {
    db.exec('PRAGMA cell_size_check = ON');
    const rows = db.prepare('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid').all();
    return rows.length === 0 ? null : (rows as unknown as readonly SchemaEntry[]);
  } catch {
    return null; // nothing in the file can be found without its schema
  }
}

function salvageTable(
  name: string,
  bad: DatabaseSync | null,
  good: DatabaseSync | null,
  rebuilt: DatabaseSync,
): TableSalvage {
  let read = 0;
  let isBroken = bad === null;
  if (bad !== null) {
    const put = createInserter(rebuilt, name, 'REPLACE');
    isBroken = !readRows(bad, name, (row) => {
      if (put(row)) read += 1;
      else isBroken = true;
    });
  }
  let fromCopy = 0;
  if (isBroken && good !== null) {
    const put = createInserter(rebuilt, name, 'IGNORE');
    readRows(good, name, (row) => {
      if (put(row)) fromCopy += 1;
    });
  }
  return { table: name, read, fromCopy, isBroken };
}

/**
 * Returns a function that inserts the columns which both tables have. It returns false when the row was refused or existed
 * already.
 */
function createInserter(rebuilt: DatabaseSync, table: string, or: 'REPLACE' | 'IGNORE'): (row: SalvageRow) => boolean {
  const own = new Set(
    rebuilt
      .prepare(`SELECT name FROM pragma_table_info(${quoteName(table, "'")})`)
      .all()
      .map(({ name }) => String(name)),
  );
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  return (row) => {
    const columns = Object.keys(row).filter((column) => own.has(column));
    const list = columns.map((column) => quoteName(column)).join(', ');
    try {
      const sql = `INSERT OR ${or} INTO ${quoteName(table)} (${list}) VALUES (${columns.map(() => '?').join(', ')})`;
      const statement = statements.get(list) ?? rebuilt.prepare(sql);
      statements.set(list, statement);
      return Number(statement.run(...columns.map((column) => row[column] ?? null)).changes) > 0;
    } catch {
      return false; // the table does not accept the row, so the row is damaged
    }
  };
}

/** Reads all rows it can. False when reading failed; then rows behind the damage are searched by id, from both ends. */
function readRows(db: DatabaseSync, table: string, each: (row: SalvageRow) => void): boolean {
  const name = quoteName(table);
  const hasRowId = isSuccessful(() => db.prepare(`SELECT rowid FROM ${name} LIMIT 0`).all());
  if (!hasRowId) {
    if (isSuccessful(() => readAll(db, `SELECT * FROM ${name}`, each))) return true;
    const key = db
      .prepare(`SELECT name FROM pragma_table_info(${quoteName(table, "'")}) WHERE pk > 0 ORDER BY pk`)
      .all();
    const order = key.map((column) => `${quoteName(String(column.name))} DESC`).join(', ');
    isSuccessful(() => readAll(db, `SELECT * FROM ${name} ORDER BY ${order}`, each));
    return false;
  }
  let last = Number.MIN_SAFE_INTEGER;
  const takeForward = (row: SalvageRow): void => {
    const { _salvage_id: id, ...rest } = row;
    last = Number(id);
    each(rest);
  };
  const rowsFrom = `SELECT rowid AS _salvage_id, * FROM ${name} NOT INDEXED WHERE rowid >= ? ORDER BY rowid`;
  if (isSuccessful(() => readAll(db, rowsFrom, takeForward, last))) return true;
  let lowest = Number.MAX_SAFE_INTEGER;
  const takeBackward = (row: SalvageRow): void => {
    const { _salvage_id: id, ...rest } = row;
    if (Number(id) <= last) throw new Error('met the rows from the other end');
    lowest = Number(id);
    each(rest);
  };
  isSuccessful(() =>
    readAll(db, `SELECT rowid AS _salvage_id, * FROM ${name} NOT INDEXED ORDER BY rowid DESC`, takeBackward),
  );
  let at = Math.max(last, 0) + 1;
  for (let seeks = 0, step = 1; seeks < MOST_SEEKS && at < lowest; seeks += 1) {
    const before = last;
    const between = `SELECT rowid AS _salvage_id, * FROM ${name} NOT INDEXED WHERE rowid >= ? AND rowid < ${lowest} ORDER BY rowid`;
    if (isSuccessful(() => readAll(db, between, takeForward, at))) break;
    step = last > before ? 1 : Math.min(LONGEST_STEP, step * 2);
    at = Math.max(at, last) + step;
  }
  return false;
}

function readAll(db: DatabaseSync, sql: string, each: (row: SalvageRow) => void, ...values: number[]): void {
  for (const row of db.prepare(sql).iterate(...values)) each(row as SalvageRow);
}

function takeSequences(db: DatabaseSync, rebuilt: DatabaseSync): void {
  const has = (database: DatabaseSync): boolean =>
    isSuccessful(() => database.prepare('SELECT 1 FROM sqlite_sequence LIMIT 1').all());
  if (!has(db) || !has(rebuilt)) return;
  const now = rebuilt.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?');
  isSuccessful(() =>
    readAll(db, 'SELECT name, seq FROM sqlite_sequence', ({ name, seq }) => {
      const before = now.get(name ?? '');
      if (before === undefined)
        rebuilt.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name ?? '', seq ?? 0);
      else if (Number(before.seq) < Number(seq))
        rebuilt.prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?').run(seq ?? 0, name ?? '');
    }),
  );
}

function isSuccessful(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false; // damage is expected here
  }
}

function quoteName(name: string, quote: '"' | "'" = '"'): string {
  return quote + name.replaceAll(quote, quote + quote) + quote;
}

export function flush(path: string): void {
  const fd = fs.openSync(path, 'r+');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
