import * as fs from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Fault } from '../model/index.ts';
import { realFiles } from '../ports/index.ts';
import { crc32 } from './crc32.node.ts';

/** What a column holds and a parameter may be. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A compiled statement. `Row` is what its SQL selects, stated beside the SQL and not checked again. */
export interface Statement<Row = never> {
  /** @throws Fault `database` or `no-space`, as every method here. */
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** Reads row by row; leaving the loop early ends the read. */
  iterate(...values: SqlValue[]): Iterable<Row>;
}

/**
 * One connection to `hivebar.sqlite`: WAL, synchronous FULL, so that what was committed survives a power cut. Calls are
 * synchronous. Several processes may hold the file open at once; a writer waits up to 5 s for another's transaction.
 */
export interface Database extends Disposable {
  readonly path: string;
  readonly isTransaction: boolean;
  /** False: the file was deleted, or another one has its name, so what is written here would be found by nobody. */
  isInPlace(): boolean;
  exec(sql: string): void;
  prepare<Row = never>(sql: string): Statement<Row>;
}

/** How long a writer waits for another process, in milliseconds. */
const BUSY_MS = 5000;
/**
 * Pages of 4 KiB the write-ahead log may reach before a commit moves them into the database. Four times SQLite's own
 * figure: a commit of 1,000 events fills that at once, and would wait for the move nearly every time. (Smaller pages make
 * the commit of one event a quarter quicker and that of 1,000 slower.)
 */
const CHECKPOINT_PAGES = 4000;
/** SQLite's primary result code for a full disk. */
const SQLITE_FULL = 13;
const SQLITE_BUSY = 5;

/**
 * Opens the database, and creates it (0600, its directory 0700) when nothing is there. `:memory:` is for tests.
 *
 * @param busyMs how long the opening and each statement may wait for another process
 * @param compiles when statements are: at once, so that tables which are not ours are found as the room of them opens; or
 *   each when it is used, for a program of a few milliseconds, which uses few of those its rooms have
 * @throws Fault `database`: not a regular file of this user, in a directory others may write to, not a database, or
 *   damaged. The file is left where it is: it holds mail, so what becomes of it is for a person to decide.
 */
export function openDatabase(path: string, busyMs = BUSY_MS, compiles: 'at once' | 'when used' = 'at once'): Database {
  if (path !== ':memory:') claim(path);
  return runGuarded(path, () => {
    // Loaded when first used: a headless watch passes through the door of this folder and has no database.
    const sqlite = process.getBuiltinModule('node:sqlite');
    const connection = new sqlite.DatabaseSync(path, { timeout: busyMs, enableForeignKeyConstraints: true });
    try {
      if (path !== ':memory:') enterWal(connection, path, busyMs);
      connection.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    } catch (error) {
      connection.close();
      throw error;
    }
    return wrap(connection, path, compiles);
  });
}

/**
 * Runs `work` in one immediate transaction: all of it is committed, or, when it throws, none. Not to be nested.
 *
 * @throws Fault `database` or `no-space`, and whatever `work` throws.
 */
export function runTransaction<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    if (!db.isInPlace())
      throw createDatabaseFault(`${db.path} was replaced or deleted while it is in use: start Hivebar again`);
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK'); // a full disk may have ended it already
    throw error;
  }
}

/**
 * The same, but the commit reaches the disk with the next one that is flushed. A power cut can take it back, never part
 * of it and never something that was committed before it: for work that is done again when it is found undone.
 */
export function runLaterTransaction<T>(db: Database, work: () => T): T {
  db.exec('PRAGMA synchronous = NORMAL');
  try {
    return runTransaction(db, work);
  } finally {
    db.exec('PRAGMA synchronous = FULL');
  }
}

/**
 * Brings the tables of one room to the version of this code. `steps[n]` leads from version n to n + 1 and is never
 * changed once released; each room names itself as `owner` and touches no table of another's.
 *
 * @throws Fault `database` when a newer Hivebar has already taken the tables further than these steps.
 */
export function migrate(db: Database, owner: string, steps: readonly string[]): void {
  const done = migratedBy.get(db) ?? new Set();
  migratedBy.set(db, done);
  if (done.has(steps)) return;
  migrateTables(db, owner, steps);
  done.add(steps);
}

/** What each connection has seen to; nobody takes tables back to a version before. */
const migratedBy = new WeakMap<Database, Set<readonly string[]>>();

function migrateTables(db: Database, owner: string, steps: readonly string[]): void {
  db.exec('CREATE TABLE IF NOT EXISTS schema_versions (owner TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  const read = db.prepare<{ version: number }>('SELECT version FROM schema_versions WHERE owner = ?');
  const versionNow = (): number => read.get(owner)?.version ?? 0;
  const refuseNewer = (version: number): void => {
    if (version <= steps.length) return;
    throw createDatabaseFault(
      `${db.path} was written by a newer Hivebar (${owner} is at version ${version}, this one knows ${steps.length}): ` +
        'start that Hivebar or a newer one, or set HIVEBAR_HOME to another directory',
    );
  };
  const version = versionNow();
  refuseNewer(version);
  if (version === steps.length) return;
  runTransaction(db, () => {
    const from = versionNow(); // another process may have been faster
    refuseNewer(from);
    for (const step of steps.slice(from)) db.exec(step);
    db.prepare(
      'INSERT INTO schema_versions (owner, version) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET version = excluded.version',
    ).run(owner, steps.length);
    recordSchema(db);
  });
}

/** In the table of versions: the checksum of what all tables, indices and triggers are, as SQLite has their text. */
const SCHEMA = '=schema';

function recordSchema(db: Database): void {
  db.prepare(
    'INSERT INTO schema_versions (owner, version) VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET version = excluded.version',
  ).run(SCHEMA, computeSchemaSum(db));
}

function computeSchemaSum(db: Database): number {
  const rows = db
    .prepare<{ sql: string }>('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name')
    .all();
  return crc32(rows.map(({ sql }) => sql).join('\n'));
}

/** False: somebody or something changed a table, an index or a trigger, so that it does something else than it did. */
export function isSchemaWhole(db: Database): boolean {
  const tables = db.prepare<{ n: number }>("SELECT count(*) AS n FROM sqlite_master WHERE name = 'schema_versions'");
  if (tables.get()?.n !== 1) return true;
  const recorded = db.prepare<{ version: number }>('SELECT version FROM schema_versions WHERE owner = ?').get(SCHEMA);
  return recorded === undefined || recorded.version === computeSchemaSum(db);
}

function wrap(connection: DatabaseSync, path: string, compiles: 'at once' | 'when used'): Database {
  const opened = path === ':memory:' ? null : fs.lstatSync(path, { throwIfNoEntry: false });
  return {
    path,
    isInPlace() {
      const now = opened === null ? null : fs.lstatSync(path, { throwIfNoEntry: false });
      return now?.ino === opened?.ino && now?.dev === opened?.dev;
    },
    get isTransaction() {
      return connection.isTransaction;
    },
    exec: (sql) => runGuarded(path, () => connection.exec(sql)),
    prepare: <Row>(sql: string) => {
      const compile = (): StatementSync => connection.prepare(sql);
      if (compiles === 'when used') return wrapStatement<Row>(compile, path);
      const compiled = runGuarded(path, compile);
      return wrapStatement<Row>(() => compiled, path);
    },
    [Symbol.dispose]: () => {
      if (connection.isOpen) connection.close();
    },
  };
}

function wrapStatement<Row>(compile: () => StatementSync, path: string): Statement<Row> {
  let compiled: StatementSync | undefined;
  const statement = (): StatementSync => {
    compiled ??= compile();
    return compiled;
  };
  // Written out, and not by `guarded`: they are what a storm of mail does most.
  return {
    run(...values) {
      try {
        const { changes, lastInsertRowid } = statement().run(...values);
        return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
      } catch (error) {
        throw toSqliteFault(error, path);
      }
    },
    get(...values) {
      try {
        return statement().get(...values) as Row | undefined;
      } catch (error) {
        throw toSqliteFault(error, path);
      }
    },
    all(...values) {
      try {
        return statement().all(...values) as Row[];
      } catch (error) {
        throw toSqliteFault(error, path);
      }
    },
    *iterate(...values) {
      const rows = runGuarded(path, () => statement().iterate(...values));
      try {
        for (;;) {
          const next = runGuarded(path, () => rows.next());
          if (next.done === true) return;
          yield next.value as Row;
        }
      } finally {
        rows.return?.();
      }
    },
  };
}

function runGuarded<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toSqliteFault(error, path);
  }
}

/** What SQLite reports as a Fault that names the file; anything else is a mistake of ours and stays what it is. */
function toSqliteFault(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error;
  if (isDamageCode(getPrimaryCode(error))) damageListeners.get(path)?.();
  if (getPrimaryCode(error) === SQLITE_FULL) {
    return new Fault('no-space', `no space left for ${path}`, { is: 'machine', key: 'database' }, { cause: error });
  }
  return createDatabaseFault(`${path}: ${error.message}`, error);
}

function createDatabaseFault(message: string, cause?: unknown): Fault {
  return new Fault('database', message, { is: 'machine', key: 'database' }, { cause });
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const isDamageCode = (code: number): boolean => code === SQLITE_CORRUPT || code === SQLITE_NOTADB;

/** Whether SQLite says that the file is not as it wrote it. */
export function isDamage({ cause }: Fault): boolean {
  return isSqliteError(cause) && isDamageCode(getPrimaryCode(cause));
}

/** By path, who is told when a statement meets damage. */
const damageListeners = new Map<string, () => void>();

/** Calls `listener` each time a statement of any connection of this process to that file meets damage. One listener per file. */
export function listenForDamage(path: string, listener: () => void): void {
  damageListeners.set(path, listener);
}

interface SqliteError extends Error {
  readonly code: 'ERR_SQLITE_ERROR';
  readonly errcode: number;
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error;
}

/** The low byte; the rest of an extended code says where it happened. */
function getPrimaryCode(error: SqliteError): number {
  return error.errcode & 0xff;
}

/** The change to WAL needs the file alone for a moment and does not wait by itself, so two first starts would collide. */
function enterWal(connection: DatabaseSync, path: string, busyMs: number): void {
  const started = process.hrtime.bigint();
  const isOver = (): boolean => process.hrtime.bigint() - started > BigInt(busyMs) * 1_000_000n;
  for (;;) {
    try {
      const mode = connection.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
      if (mode === 'wal') return;
      throw createDatabaseFault(`${path} cannot be kept in WAL mode (it stays in ${String(mode)}): use a local disk`);
    } catch (error) {
      if (!isSqliteError(error) || getPrimaryCode(error) !== SQLITE_BUSY || isOver()) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/**
 * Makes sure that the path is a private file of this user. An existing file is judged by name and not by descriptor:
 * closing a second descriptor of a database file would drop the locks this process holds on it (POSIX record locks), and
 * in a directory only this user can write to nobody can swap the name in between.
 */
function claim(path: string): void {
  const directory = dirname(path);
  const uid = process.getuid?.();
  try {
    realFiles.mkdirAll(directory, 0o700);
    const around = fs.statSync(directory);
    if (uid !== undefined && around.uid !== uid) throw createDatabaseFault(`${directory} belongs to another user`);
    if (uid !== undefined && (around.mode & 0o022) !== 0) {
      throw createDatabaseFault(`${directory} can be written to by others (chmod go-w it)`);
    }
    const stats = create(path) ? undefined : fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (stats.isSymbolicLink()) throw createDatabaseFault(`${path} is a symbolic link, which is refused`);
    if (!stats.isFile()) throw createDatabaseFault(`${path} is not a regular file`);
    if (uid !== undefined && stats.uid !== uid) throw createDatabaseFault(`${path} belongs to another user`);
    if (uid !== undefined && (stats.mode & 0o777) !== 0o600) fs.chmodSync(path, 0o600);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw createDatabaseFault(
      `${path} cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/** False when something is there already. */
function create(path: string): boolean {
  const { O_RDWR, O_CREAT, O_EXCL } = fs.constants;
  try {
    fs.closeSync(fs.openSync(path, O_RDWR | O_CREAT | O_EXCL, 0o600));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
