import * as fs from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Fault } from '../model/index.ts';
import { realFiles } from '../ports/index.ts';
import { crc32 } from './crc32.node.ts';

/** The values that a column holds and a parameter takes. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A compiled statement. `Row` is what its SQL selects; it is declared beside the SQL and not checked. */
export interface Statement<Row = never> {
  /** @throws Fault `database` or `no-space`, like every method here. */
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** Reads row by row; leaving the loop early ends the read. */
  iterate(...values: SqlValue[]): Iterable<Row>;
}

/**
 * One connection to `hivebar.sqlite`, with WAL and synchronous FULL, so that a commit survives a power cut. Calls are
 * synchronous. Several processes may have the file open; a writer waits up to 5 s for another's transaction.
 */
export interface Database extends Disposable {
  readonly path: string;
  readonly isTransaction: boolean;
  /** False when the file was deleted or replaced, so that nobody would find what is written here. */
  isInPlace(): boolean;
  exec(sql: string): void;
  prepare<Row = never>(sql: string): Statement<Row>;
}

/** How long a writer waits for another process, in milliseconds. */
const BUSY_MS = 5000;
/**
 * How many pages of 4 KiB the write-ahead log may reach before a commit moves them into the database. This is four times SQLite's
 * default: a commit of 1,000 events fills that at once, and would wait for the move nearly every time. (Smaller pages make the
 * commit of one event a quarter quicker and that of 1,000 slower.)
 */
const CHECKPOINT_PAGES = 4000;
/** SQLite's primary result code for a full disk. */
const SQLITE_FULL = 13;
const SQLITE_BUSY = 5;

/**
 * Opens the database, and creates it (0600, its directory 0700) when nothing is there. `:memory:` is for tests.
 *
 * @param busyMs how long the opening and each statement may wait for another process, in milliseconds
 * @param compiles `at once` compiles each statement when it is prepared, so that foreign tables are noticed when a room opens its
 * tables; `when used` is for a program of a few milliseconds, which uses few of its statements
 * @throws Fault `database` when it is no regular file of this user, in a directory that others may write to, no database, or
 * damaged. The file stays where it is: it holds mail, so a person decides what happens to it.
 */
export function openDatabase(path: string, busyMs = BUSY_MS, compiles: 'at once' | 'when used' = 'at once'): Database {
  if (path !== ':memory:') claim(path);
  return runGuarded(path, () => {
    // It is loaded at first use: a headless watch imports this folder's index and has no database.
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
 * Runs `work` in one immediate transaction: all of it is committed, or nothing when it throws. Transactions must not be nested.
 *
 * @throws Fault `database` or `no-space`, and whatever `work` throws.
 */
export function runTransaction<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    if (!db.isInPlace())
      throw createDatabaseFault(`${db.path} was replaced or deleted while it was in use: restart Hivebar`);
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK'); // a full disk may have ended it already
    throw error;
  }
}

/**
 * Like `runTransaction`, but the commit reaches the disk with the next commit that is flushed. A power cut can undo it as a
 * whole, and never undoes an earlier commit. Use it for work that is repeated when it is found undone.
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
 * Brings the tables of one room to the version of this code. `steps[n]` leads from version n to n + 1 and never changes once
 * released. Each room passes its name as `owner` and touches only its own tables.
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

/** The steps that each connection has completed. Nobody takes tables back to an earlier version. */
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

/** The row of the version table that holds the checksum of the SQL text of all tables, indices and triggers. */
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

/** False when somebody or something changed a table, an index or a trigger, so that it may behave differently. */
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
  // The calls are written out instead of using `runGuarded`, because a burst of mail makes them most often.
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

/** Turns an SQLite error into a Fault that names the file. Any other error is a mistake in our code and stays as it is. */
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

/** True when SQLite reports that the file is damaged or no database. */
export function isDamage({ cause }: Fault): boolean {
  return isSqliteError(cause) && isDamageCode(getPrimaryCode(cause));
}

/**
 * SQLite's codes for faults that pass, or that a new file would have too: perm, busy, locked, nomem, readonly, ioerr,
 * full, cantopen.
 */
const PASSES: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 10, 13, 14]);

/** Returns whether the file itself is at fault, so that only a new file helps. A full disk or a lock is not such a fault. */
export function isUnusable(error: unknown): error is Fault {
  if (!(error instanceof Fault) || error.code !== 'database') return false;
  return !isSqliteError(error.cause) || !PASSES.has(getPrimaryCode(error.cause));
}

/** The listener of each path, called when a statement meets damage. */
const damageListeners = new Map<string, () => void>();

/**
 * Calls `listener` each time a statement of any connection in this process meets damage in that file. A file has one listener.
 */
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

/** The low byte. The rest of an extended code says where the error happened. */
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
      throw createDatabaseFault(`${path} cannot use WAL mode (it stays in ${String(mode)}): use a local disk`);
    } catch (error) {
      if (!isSqliteError(error) || getPrimaryCode(error) !== SQLITE_BUSY || isOver()) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/**
 * Makes sure that the path is a private file of this user. An existing file is checked by name and not by descriptor: closing a
 * second descriptor of a database file would drop the locks that this process holds on it (POSIX record locks). In a directory
 * that only this user can write to, nobody can swap the name in between.
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

/** Returns false when something exists under the name. */
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
