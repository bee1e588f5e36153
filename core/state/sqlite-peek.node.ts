import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Fault, type Scope } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import {
  type DatabaseSight,
  type FileSight,
  judgePeek,
  type PeekWay,
  planPeek,
  type SqliteFailure,
} from './sqlite-peek.ts';

/** The statements of one peek, all of one transaction. `Row` is what the SQL selects; it is declared there and not checked. */
export interface PeekedDatabase {
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
}

export type SqlitePeek<T> =
  | {
      readonly is: 'read';
      readonly value: T;
      /** Device and inode of the file. */
      readonly identity: string;
      /** What `readDatabaseStamp` returned before the reading. */
      readonly stamp: string;
    }
  | { readonly is: 'absent' }
  /** `busy`: somebody held it for all of the time. `schema`: a table or column is missing. `why` is a text for a person. */
  | { readonly is: 'busy' | 'malformed' | 'schema' | 'unreadable'; readonly why: string };

export interface PeekOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait for a writer, in milliseconds. */
  readonly busyMs?: number;
}

const BUSY_MS = 250;
const FIRST_PAUSE_MS = 5;

/**
 * Reads an SQLite database of somebody else. It creates no file beside it, changes none, and keeps nothing open. It waits without
 * blocking for a writer that holds the file. `read` may be called again when somebody wrote meanwhile.
 *
 * No other code of this process may open and close the file meanwhile: POSIX would drop the locks of this reading.
 * @throws whatever `read` throws that is not an error of SQLite
 */
export async function peekSqlite<T>(
  path: string,
  read: (db: PeekedDatabase) => T,
  { clock, signal, busyMs = BUSY_MS }: PeekOptions,
): Promise<SqlitePeek<T>> {
  const end = clock.monotonic() + busyMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const peek = peekOnce(path, read);
    if (peek.is !== 'busy') return peek;
    const leftMs = end - clock.monotonic();
    if (leftMs <= 0 || signal.aborted) return peek;
    await clock.sleep(Math.min(pauseMs, leftMs), signal);
  }
}

/**
 * Changes when somebody writes the database, and not when it is read. Where a file system has coarse times, two writes in the same
 * 10 ms may leave it as it is. Opening a database as root changes the owner of its side files to what it was, which a watched folder
 * reports as a change.
 */
export function readDatabaseStamp(path: string): string {
  const sight = readSight(path);
  return sight instanceof Error ? sight.message : formatStamp(sight);
}

function formatStamp({ main, wal }: DatabaseSight): string {
  return [main, wal].map((file) => `${file?.identity} ${file?.size} ${file?.changed}`).join();
}

/**
 * The address under which SQLite opens a database without a trace, for a program of our own that reads it in another process. Null
 * when nothing is there.
 */
export function toPeekAddress(path: string): URL | null {
  const sight = readSight(path);
  if (sight instanceof Error || sight.main === null) return null;
  const plan = planPeek(sight);
  return toAddress(path, plan.is === 'read' ? PARAMETERS[plan.way] : {});
}

/** A peek that failed, as the fault that says so. */
export function toPeekFault(peek: Exclude<SqlitePeek<unknown>, { is: 'read' }>, path: string, scope: Scope): Fault {
  switch (peek.is) {
    case 'absent':
      return new Fault('unreadable', `${path} does not exist`, scope);
    case 'busy':
      return new Fault('store-busy', `${path} is in use: ${peek.why}`, scope);
    case 'malformed':
      return new Fault('store-malformed', `${path} is damaged: ${peek.why}`, scope);
    case 'schema':
      return new Fault('schema', `${path} has another form: ${peek.why}`, scope);
    case 'unreadable':
      return new Fault('unreadable', `${path} cannot be read: ${peek.why}`, scope);
  }
}

const BUSY = { is: 'busy', why: 'somebody is writing to it' } as const;

function peekOnce<T>(path: string, read: (db: PeekedDatabase) => T): SqlitePeek<T> {
  const before = readSight(path);
  if (before instanceof Error) return { is: 'unreadable', why: before.message };
  const plan = planPeek(before);
  if (plan.is === 'again') return BUSY;
  if (plan.is !== 'read') return plan;
  const result = readInWay(path, plan.way, read);
  const after = readSight(path);
  if (after instanceof Error) return { is: 'unreadable', why: after.message };
  const verdict = judgePeek(plan.way, before, after, result.is === 'failed' ? result : null);
  if (result.is === 'read' && verdict === 'valid')
    return { ...result, identity: before.main?.identity ?? '', stamp: formatStamp(before) };
  if (verdict === 'valid' || verdict === 'busy') return BUSY;
  return { is: verdict, why: result.is === 'failed' ? result.message : verdict };
}

type Reading<T> = { readonly is: 'read'; readonly value: T } | ({ readonly is: 'failed' } & SqliteFailure);

function readInWay<T>(path: string, way: PeekWay, read: (db: PeekedDatabase) => T): Reading<T> {
  try {
    switch (way) {
      case 'immutable':
      case 'read-only':
        return { is: 'read', value: readAt(toAddress(path, PARAMETERS[way]), read) };
      case 'copy':
        return { is: 'read', value: readCopy(path, read) };
    }
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    if (error.code === 'ERR_OUT_OF_RANGE') return { is: 'failed', code: 1, message: 'no such column of whole numbers' };
    if (error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error)
      return { is: 'failed', code: Number(error.errcode), message: error.message };
    if ('syscall' in error) return { is: 'failed', code: 10, message: error.message }; // the copy
    throw error;
  }
}

const PARAMETERS: Readonly<Record<PeekWay, Readonly<Record<string, string>>>> = {
  immutable: { immutable: '1' },
  'read-only': { readonly_shm: '1' },
  copy: {},
};

function toAddress(path: string, parameters: Readonly<Record<string, string>>): URL {
  const url = pathToFileURL(path);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

function readAt<T>(url: URL, read: (db: PeekedDatabase) => T): T {
  // It is loaded at first use: a headless watch imports this folder's index and has no database.
  const sqlite = process.getBuiltinModule('node:sqlite');
  const connection: DatabaseSync = new sqlite.DatabaseSync(url, { readOnly: true, timeout: 0 });
  try {
    connection.exec('PRAGMA trusted_schema = OFF; BEGIN');
    const statements = new Map<string, StatementSync>();
    const prepare = (sql: string): StatementSync => {
      const statement = statements.get(sql) ?? connection.prepare(sql);
      statements.set(sql, statement);
      return statement;
    };
    return read({
      get: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).get(...values) as Row | undefined,
      all: <Row>(sql: string, ...values: SQLInputValue[]) => prepare(sql).all(...values) as Row[],
    });
  } finally {
    connection.close();
  }
}

/** Copies into a folder that only this user can read, and reads there. */
function readCopy<T>(path: string, read: (db: PeekedDatabase) => T): T {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hivebar-peek-'));
  try {
    const copy = join(folder, 'copy');
    for (const end of ['', '-wal']) fs.copyFileSync(`${path}${end}`, `${copy}${end}`, fs.constants.COPYFILE_FICLONE);
    return readAt(toAddress(copy, {}), read);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function readSight(path: string): DatabaseSight | Error {
  try {
    return {
      main: readFileSight(path),
      wal: readFileSight(`${path}-wal`),
      shm: readFileSight(`${path}-shm`),
      journal: readFileSight(`${path}-journal`),
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function readFileSight(path: string): FileSight | null {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stat === undefined) return null;
  const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'symlink' : 'other';
  return { kind, identity: `${stat.dev}:${stat.ino}`, size: Number(stat.size), changed: stat.mtimeNs };
}
