import { Fault } from '../model/index.ts';
import type { Database, Statement } from './database.node.ts';

/** SQLite's primary result code for a write that it was told to refuse. */
const SQLITE_READONLY = 8;

/**
 * The same database, which is read as ever and refuses each write with `why`. For a copy that stands in for the real one: what it
 * took would be lost.
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
