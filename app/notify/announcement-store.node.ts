import { Fault } from '../../core/model/index.ts';
import { type Database, migrate, runTransaction } from '../../core/state/index.ts';
import { toDecisionKey, toOutageKey, toWaitKey } from './channels/index.ts';
import type { AnnouncedOutage, AnnouncedWait, AnnouncementStore } from './state.ts';

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
  // Until now there was one channel, the desktop.
  `ALTER TABLE announcements RENAME TO old_announcements;
   CREATE TABLE announcements (
     channel TEXT NOT NULL,
     cause TEXT NOT NULL,
     scope TEXT NOT NULL CHECK (scope IN ('persona', 'source', 'machine')),
     source TEXT NOT NULL,
     opens TEXT,
     since REAL NOT NULL,
     at REAL NOT NULL,
     over REAL,
     personas TEXT NOT NULL CHECK (json_valid(personas)),
     PRIMARY KEY (channel, cause)
   ) STRICT;
   INSERT INTO announcements (channel, cause, scope, source, opens, since, at, over, personas)
     SELECT 'desktop', cause, scope, source, opens, since, at, over, personas FROM old_announcements;
   DROP TABLE old_announcements;
   ALTER TABLE announced_decisions RENAME TO old_announced_decisions;
   CREATE TABLE announced_decisions (
     channel TEXT NOT NULL,
     id INTEGER NOT NULL,
     PRIMARY KEY (channel, id)
   ) STRICT;
   INSERT INTO announced_decisions (channel, id) SELECT 'desktop', id FROM old_announced_decisions;
   DROP TABLE old_announced_decisions;`,
  `CREATE TABLE announced_waits (
     channel TEXT NOT NULL,
     persona TEXT NOT NULL,
     since REAL,
     why TEXT NOT NULL,
     banner TEXT NOT NULL CHECK (banner IN ('own', 'crowd')),
     at REAL NOT NULL,
     PRIMARY KEY (channel, persona)
   ) STRICT`,
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
 * Stores in the tray's database which outages, decisions and waits of agents were announced to a person, per channel. What is down or
 * open, and what was delivered to an agent, is stored elsewhere.
 *
 * A row is written after the channel accepted the notification. A `kill -9` in between shows the same notification once more on
 * that channel after the restart, and never loses one.
 *
 * @throws Fault `database`
 */
export function openAnnouncementStore(db: Database): AnnouncementStore {
  migrate(db, 'announcements', STEPS);
  const selectAll = db.prepare<AnnouncementRow>('SELECT * FROM announcements WHERE channel = ? ORDER BY since');
  const selectDecisions = db.prepare<{ readonly id: number }>('SELECT id FROM announced_decisions WHERE channel = ?');
  const clear = db.prepare('DELETE FROM announcements WHERE channel = ?');
  const clearDecisions = db.prepare('DELETE FROM announced_decisions WHERE channel = ?');
  const insertDecision = db.prepare('INSERT INTO announced_decisions (channel, id) VALUES (?, ?)');
  const selectWaits = db.prepare<AnnouncedWait>(
    'SELECT persona, since, why, banner, at FROM announced_waits WHERE channel = ?',
  );
  const clearWaits = db.prepare('DELETE FROM announced_waits WHERE channel = ?');
  const insertWait = db.prepare(
    'INSERT INTO announced_waits (channel, persona, since, why, banner, at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insert = db.prepare(
    'INSERT INTO announcements (channel, cause, scope, source, opens, since, at, over, personas) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  return {
    load: (channel) => ({
      outages: Object.fromEntries(
        selectAll.all(channel).map((row) => [toOutageKey(row.cause), toAnnouncedOutage(row, db.path)]),
      ),
      decisions: Object.fromEntries(selectDecisions.all(channel).map(({ id }) => [toDecisionKey(id), true])),
      waits: Object.fromEntries(selectWaits.all(channel).map((wait) => [toWaitKey(wait.persona), { ...wait }])),
    }),
    save: (channel, announcements) =>
      runTransaction(db, () => {
        clear.run(channel);
        for (const { cause, since, at, over, personas } of Object.values(announcements.outages)) {
          insert.run(
            channel,
            cause.key,
            cause.scope,
            cause.source,
            cause.opens,
            since,
            at,
            over,
            JSON.stringify(personas),
          );
        }
        clearDecisions.run(channel);
        for (const key of Object.keys(announcements.decisions))
          insertDecision.run(channel, Number(key.slice('decision:'.length)));
        clearWaits.run(channel);
        for (const { persona, since, why, banner, at } of Object.values(announcements.waits))
          insertWait.run(channel, persona, since, why, banner, at);
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
