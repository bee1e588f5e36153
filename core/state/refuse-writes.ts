import { Fault } from '../model/index.ts';
import type { Database, Statement } from './database.node.ts';

/** SQLite's primary result code for a write that is not allowed. */
const SQLITE_READONLY = 8;

/**
 * Wraps a database so that reads work as before and each write throws `why`. It is for a copy that stands in for the real
 * database, where written data would be lost.
 */
export function refuseWrites(db: Database, why: Fault): Database {
  db.exec('PRAGMA query_only = ON');
  const withReason = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw isRefusal(error) ? why : error;
    }
  };
  return {
    path: db.path,
    isInPlace: () => db.isInPlace(),
    get isTransaction() {
      return db.isTransaction;
    },
    exec: (sql) => withReason(() => db.exec(sql)),
    prepare<Row>(sql: string): Statement<Row> {
      const statement = withReason(() => db.prepare<Row>(sql));
      return {
        run: (...values) => withReason(() => statement.run(...values)),
        get: (...values) => withReason(() => statement.get(...values)),
        all: (...values) => withReason(() => statement.all(...values)),
        iterate: (...values) => statement.iterate(...values),
      };
    },
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Fault) || !(error.cause instanceof Error)) return false;
  return 'errcode' in error.cause && (Number(error.cause.errcode) & 0xff) === SQLITE_READONLY;
}
