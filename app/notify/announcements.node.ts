import { Fault } from '../../core/model/index.ts';
import { type Database, migrate, transaction } from '../../core/state/index.ts';
import type { Announced, AnnouncedByKey, Announcements } from './announced.ts';
import { outageKey } from './banner.ts';

const STEPS = [
  `CREATE TABLE announcements (
     cause TEXT PRIMARY KEY,
     scope TEXT NOT NULL CHECK (scope IN ('persona', 'source', 'machine')),
     source TEXT NOT NULL,
     opens TEXT,
     since REAL NOT NULL,
     at REAL NOT NULL,
     personas TEXT NOT NULL CHECK (json_valid(personas))
   ) STRICT`,
  `ALTER TABLE announcements ADD COLUMN over REAL`,
] as const;

interface Row {
  readonly cause: string;
  readonly scope: Announced['cause']['scope'];
  readonly source: string;
  readonly opens: string | null;
  readonly since: number;
  readonly at: number;
  readonly over: number | null;
  readonly personas: string;
}

/**
 * What a person was shown of outages, in the tray's database; what is down, and what an agent was told, stand elsewhere.
 *
 * A row is written after the desktop took the banner: a `kill -9` in between shows the same banner once more after the
 * restart, and can never lose one.
 *
 * @throws Fault `database`
 */
export function keptAnnouncements(db: Database): Announcements {
  migrate(db, 'announcements', STEPS);
  const all = db.prepare<Row>('SELECT * FROM announcements ORDER BY since');
  const clear = db.prepare('DELETE FROM announcements');
  const insert = db.prepare(
    'INSERT INTO announcements (cause, scope, source, opens, since, at, over, personas) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  return {
    load: () => Object.fromEntries(all.all().map((row) => [outageKey(row.cause), announcedOf(row, db.path)])),
    save: (announced: AnnouncedByKey) =>
      transaction(db, () => {
        clear.run();
        for (const { cause, since, at, over, personas } of Object.values(announced)) {
          insert.run(cause.key, cause.scope, cause.source, cause.opens, since, at, over, JSON.stringify(personas));
        }
      }),
  };
}

function announcedOf(row: Row, path: string): Announced {
  const personas: unknown = JSON.parse(row.personas);
  if (!Array.isArray(personas) || !personas.every((p) => typeof p === 'string')) {
    throw new Fault('database', `${path}: announcements of ${row.cause} hold ${row.personas}`, {
      is: 'machine',
      key: 'database',
    });
  }
  const { cause: key, scope, source, opens, since, at, over } = row;
  return { cause: { key, scope, source, opens }, since, at, over, personas };
}
