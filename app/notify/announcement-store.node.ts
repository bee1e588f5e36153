import { Fault } from '../../core/model/index.ts';
import { type Database, migrate, runTransaction } from '../../core/state/index.ts';
import type { AnnouncedOutage, AnnouncementStore } from './announcements.ts';
import { toDecisionKey, toOutageKey } from './banner.ts';

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
  `CREATE TABLE announced_decisions (id INTEGER PRIMARY KEY) STRICT`,
] as const;

interface AnnouncementRow {
  readonly cause: string;
  readonly scope: AnnouncedOutage['cause']['scope'];
  readonly source: string;
  readonly opens: string | null;
  readonly since: number;
  readonly at: number;
  readonly over: number | null;
  readonly personas: string;
}

/**
 * Stores in the tray's database which outages and decisions were announced to a person. What is down or open, and what was
 * delivered to an agent, is stored elsewhere.
 *
 * A row is written after the desktop accepted the banner. A `kill -9` in between shows the same banner once more after the
 * restart, and never loses one.
 *
 * @throws Fault `database`
 */
export function openAnnouncementStore(db: Database): AnnouncementStore {
  migrate(db, 'announcements', STEPS);
  const selectAll = db.prepare<AnnouncementRow>('SELECT * FROM announcements ORDER BY since');
  const selectDecisions = db.prepare<{ readonly id: number }>('SELECT id FROM announced_decisions');
  const clear = db.prepare('DELETE FROM announcements');
  const clearDecisions = db.prepare('DELETE FROM announced_decisions');
  const insertDecision = db.prepare('INSERT INTO announced_decisions (id) VALUES (?)');
  const insert = db.prepare(
    'INSERT INTO announcements (cause, scope, source, opens, since, at, over, personas) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  return {
    load: () => ({
      outages: Object.fromEntries(
        selectAll.all().map((row) => [toOutageKey(row.cause), toAnnouncedOutage(row, db.path)]),
      ),
      decisions: Object.fromEntries(selectDecisions.all().map(({ id }) => [toDecisionKey(id), true])),
    }),
    save: (announcements) =>
      runTransaction(db, () => {
        clear.run();
        for (const { cause, since, at, over, personas } of Object.values(announcements.outages)) {
          insert.run(cause.key, cause.scope, cause.source, cause.opens, since, at, over, JSON.stringify(personas));
        }
        clearDecisions.run();
        for (const key of Object.keys(announcements.decisions))
          insertDecision.run(Number(key.slice('decision:'.length)));
      }),
  };
}

function toAnnouncedOutage(row: AnnouncementRow, path: string): AnnouncedOutage {
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
