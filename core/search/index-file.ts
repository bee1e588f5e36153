import type { Files, Log } from '../ports/index.ts';
import { type Database, isUnusable, migrate, openDatabase } from '../state/index.ts';

/**
 * The tables of the index. `mail.id` is the time of the message in milliseconds, times `IDS_PER_MS`, plus a number that makes it
 * unique. So the order of ids is the order of time, and the newest matches are found without sorting all matches. `words` holds
 * no text, only which words are in which message. `logs` says how far each log was read: everything from `oldest` to `newest`.
 */
const SCHEMA: readonly string[] = [
  `
  CREATE TABLE logs (
    name TEXT PRIMARY KEY,
    newest INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    is_done INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    log TEXT NOT NULL,
    ref INTEGER NOT NULL,
    UNIQUE (log, ref)
  ) STRICT;
  CREATE VIRTUAL TABLE words USING fts5(
    sender, recipient, subject, content,
    content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='2 3'
  );
  `,
];

/** The file of the index. It is derived: one that cannot be used is deleted, and a new one begins empty. */
export interface IndexFile extends Disposable {
  /** Runs `work`, on a new file if the present one turns out to be damaged. @throws Fault `database` or `no-space` */
  use<T>(work: (db: Database) => T): T;
}

export function openIndexFile(path: string, files: Pick<Files, 'unlink' | 'lstat'>, log: Log): IndexFile {
  let opened: Database | null = null;

  function open(): Database {
    const db = openDatabase(path);
    try {
      db.exec('PRAGMA synchronous = NORMAL'); // what a power cut undoes is indexed again
      migrate(db, 'search', SCHEMA);
      return db;
    } catch (error) {
      db[Symbol.dispose]();
      throw error;
    }
  }

  function close(): void {
    opened?.[Symbol.dispose]();
    opened = null;
  }

  function remove(): void {
    for (const suffix of ['', '-wal', '-shm']) if (files.lstat(path + suffix) !== null) files.unlink(path + suffix);
  }

  return {
    use(work) {
      if (opened?.isInPlace() === false) close(); // somebody deleted it, which is allowed
      try {
        opened ??= open();
        return work(opened);
      } catch (error) {
        if (!isUnusable(error)) throw error;
        log.warn(`the search index is made again: ${error.message}`);
        close();
        remove();
        opened = open();
        return work(opened);
      }
    },
    [Symbol.dispose]: close,
  };
}
