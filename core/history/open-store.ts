import { Fault } from '../model/index.ts';
import type { Files, Log } from '../ports/index.ts';
import { type Database, getErrno, openDatabase } from '../state/index.ts';
import { APPLICATION_ID } from './schema.ts';
import { createHistoryStore, type HistoryStore } from './store.ts';

export interface OpenHistoryStore extends Disposable {
  readonly store: HistoryStore;
}

/** How long a write waits for another process that holds the file, in milliseconds. History is never worth a longer stop. */
const BUSY_MS = 50;

/**
 * Opens the history at `path`. An unusable file is moved to `PATH.set-aside`, replaces an earlier one there, and an
 * empty history is created. History is derived, so no truth is lost.
 *
 * @throws Fault `database` or `no-space` when no history can be opened now
 */
export function openHistoryStore(path: string, files: Files, log: Log): OpenHistoryStore {
  try {
    return open(path);
  } catch (error) {
    if (!isUnusable(error)) throw error;
    setFileAside(path, files, log, error);
    return open(path);
  }
}

/** Returns whether the file itself is at fault, so that only a new file helps. A full disk or a lock is not such a fault. */
export function isUnusable(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'database' && !PASSES.has(getSqliteCode(error.cause) ?? -1);
}

/** @throws Fault `database` when the file cannot be moved */
export function setFileAside(path: string, files: Files, log: Log, why: Fault): void {
  const to = `${path}.set-aside`;
  try {
    if (files.lstat(path) === null) throw why; // no file is in the way, so a new one would fail as well
    files.rename(path, to);
    for (const beside of ['-wal', '-shm']) move(files, `${path}${beside}`, `${to}${beside}`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = getErrno(error);
    throw new Fault('database', `${path} cannot be moved away (${code}): ${why.message}`, why.scope, { cause: error });
  }
  log.warn(`the history begins anew, what was there is ${to} now: ${why.message}`);
}

function move(files: Files, from: string, to: string): void {
  if (files.lstat(from) !== null) files.rename(from, to);
  else if (files.lstat(to) !== null) files.unlink(to); // belongs to a file that was set aside before
}

function open(path: string): OpenHistoryStore {
  const db = openDatabase(path);
  try {
    db.exec(`PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA wal_autocheckpoint = 1000`);
    claim(db);
    return { store: createHistoryStore(db), [Symbol.dispose]: () => db[Symbol.dispose]() };
  } catch (error) {
    db[Symbol.dispose]();
    throw error;
  }
}

/** @throws Fault `database` when the database belongs to another program */
function claim(db: Database): void {
  const id = db.prepare<{ application_id: number }>('PRAGMA application_id').get()?.application_id;
  if (id === APPLICATION_ID) return;
  const tables = db.prepare<{ n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
  if (tables > 0) {
    throw new Fault('database', `${db.path} is a database of something else`, { is: 'machine', key: 'history' });
  }
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

/**
 * SQLite's codes for faults that pass, or that a new file would have too: perm, busy, locked, nomem, readonly, ioerr,
 * full, cantopen.
 */
const PASSES: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 10, 13, 14]);

function getSqliteCode(cause: unknown): number | null {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : null;
  return typeof code === 'number' ? code & 0xff : null;
}
