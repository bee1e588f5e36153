/** What lies under one name of a database, seen with lstat. */
export interface FileSight {
  readonly kind: 'file' | 'symlink' | 'other';
  /** Device and inode. */
  readonly identity: string;
  readonly size: number;
  /** The time of the last change, in nanoseconds. */
  readonly changed: bigint;
}

/** A database and its side files at one moment. Null: nothing has the name. */
export interface DatabaseSight {
  readonly main: FileSight | null;
  readonly wal: FileSight | null;
  readonly shm: FileSight | null;
  readonly journal: FileSight | null;
}

/**
 * How a database of somebody else can be read without a trace. `immutable`: only the main file is read, without locks. `read-only`:
 * with its `-wal`, and never writing to the `-shm`. `copy`: of main file and `-wal`, because without a `-shm` SQLite would create one.
 */
export type PeekWay = 'immutable' | 'read-only' | 'copy';

export type PeekPlan =
  | { readonly is: 'read'; readonly way: PeekWay }
  | { readonly is: 'absent' }
  | { readonly is: 'unreadable'; readonly why: string }
  /** Somebody is writing; try again soon. */
  | { readonly is: 'again' };

/** A larger database is not copied. */
const MOST_COPIED_BYTES = 64 * 1024 * 1024;

/** Decides how to read a database as it lies there (Codex contract 3). */
export function planPeek({ main, wal, shm, journal }: DatabaseSight): PeekPlan {
  if (main === null) return { is: 'absent' };
  for (const [name, file] of Object.entries({ '': main, '-wal': wal, '-shm': shm, '-journal': journal })) {
    if (file === null || file.kind === 'file') continue;
    const kind = file.kind === 'symlink' ? 'a symbolic link, which is refused' : 'not a regular file';
    return { is: 'unreadable', why: name === '' ? `it is ${kind}` : `its ${name} is ${kind}` };
  }
  if (isFilled(journal)) return { is: 'again' }; // the main file is in the middle of a transaction
  if (!isFilled(wal)) return { is: 'read', way: 'immutable' };
  if (shm !== null) return { is: 'read', way: 'read-only' };
  if (main.size + wal.size <= MOST_COPIED_BYTES) return { is: 'read', way: 'copy' };
  return { is: 'unreadable', why: 'it has a -wal and no -shm, and is too large to be copied' };
}

/** What went wrong. `busy`: somebody is writing, so it can be tried again soon. */
export type PeekTrouble = 'busy' | 'malformed' | 'schema' | 'unreadable';

export interface SqliteFailure {
  /** The result code of SQLite, extended or not. */
  readonly code: number;
  readonly message: string;
}

/** Primary result codes of SQLite: BUSY, LOCKED, READONLY (the index of the `-wal` is not usable yet), PROTOCOL, SCHEMA. */
const BUSY_CODES: ReadonlySet<number> = new Set([5, 6, 8, 15, 17]);
/** CORRUPT, NOTADB. */
const MALFORMED_CODES: ReadonlySet<number> = new Set([11, 26]);
const SQLITE_ERROR = 1;

/**
 * Decides what a peek is worth, from what lay there before and after it. Read in the way `read-only` it is valid, because one
 * transaction holds it. Otherwise nobody may have written meanwhile.
 */
export function judgePeek(
  way: PeekWay,
  before: DatabaseSight,
  after: DatabaseSight,
  failure: SqliteFailure | null,
): 'valid' | PeekTrouble {
  if (way !== 'read-only' && !isUntouched(way, before, after)) return 'busy';
  if (failure === null) return 'valid';
  const trouble = classifyFailure(failure);
  // The side files may have come or gone between the decision and the opening.
  return trouble === 'unreadable' && !isSame(before.shm, after.shm) ? 'busy' : trouble;
}

function isUntouched(way: PeekWay, before: DatabaseSight, after: DatabaseSight): boolean {
  if (!isSame(before.main, after.main) || isFilled(after.journal)) return false;
  return way === 'immutable' ? !isFilled(after.wal) : isSame(before.wal, after.wal) && after.shm === null;
}

function classifyFailure({ code, message }: SqliteFailure): PeekTrouble {
  const primary = code & 0xff;
  if (BUSY_CODES.has(primary)) return 'busy';
  if (MALFORMED_CODES.has(primary)) return 'malformed';
  return primary === SQLITE_ERROR && /^no such (?:table|column)/.test(message) ? 'schema' : 'unreadable';
}

function isFilled(file: FileSight | null): file is FileSight {
  return file !== null && file.size > 0;
}

function isSame(before: FileSight | null, after: FileSight | null): boolean {
  return before?.identity === after?.identity && before?.size === after?.size && before?.changed === after?.changed;
}
