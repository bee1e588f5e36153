import type { Database } from '../../../core/state/index.ts';
import type { TimeBudget } from './budget.ts';

/** Wraps a database so that each transaction waits for other processes only as long as `budget` has time left. */
export function wrapWithDeadline(db: Database, budget: TimeBudget): Database {
  return {
    path: db.path,
    get isTransaction() {
      return db.isTransaction;
    },
    exec(sql) {
      if (sql.startsWith('BEGIN')) db.exec(`PRAGMA busy_timeout = ${budget.left()}`);
      db.exec(sql);
    },
    isInPlace: () => db.isInPlace(),
    prepare: (sql) => db.prepare(sql),
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}
