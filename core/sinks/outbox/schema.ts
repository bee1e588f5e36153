/**
 * The tables of the outbox.
 *
 * `journal` has one row: the id of this database, and the last record of the journal file that is in the tables (see
 * `OutboxJournal`). `outbox.line` is the event exactly as in the file of the persona, without the newline. Each row is
 * in one of the two indices on `event_id`. Mail is unique, because the same message always has the same id. Other
 * events are only looked up.
 *
 * `watches.kept` is the saved state of a watcher. `watches.published` is the last `seq` that is on the disk in its
 * file. `watches.newest` is the highest message id in any event, of a new message or of a changed one. `known` holds
 * the known items of a set (see `KnownChange`). The one process that takes events counts `seq` on from the newest row.
 * That row is never deleted, so no number repeats.
 */
export const OUTBOX_SCHEMA: readonly string[] = [
  `
  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY,
    persona TEXT NOT NULL,
    event_id TEXT NOT NULL,
    is_mail INTEGER NOT NULL,
    line TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX outbox_mail ON outbox (event_id, persona) WHERE is_mail = 1;
  CREATE INDEX outbox_other ON outbox (event_id, persona) WHERE is_mail = 0;
  CREATE INDEX outbox_by_persona ON outbox (persona);

  CREATE TABLE watches (
    persona TEXT PRIMARY KEY,
    kept TEXT NOT NULL,
    published INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE journal (
    id TEXT NOT NULL,
    filled INTEGER NOT NULL
  ) STRICT;
  INSERT INTO journal (id, filled) VALUES (lower(hex(randomblob(8))), 0);
  ALTER TABLE watches ADD COLUMN newest INTEGER NOT NULL DEFAULT 0;
  UPDATE watches SET newest = coalesce(
    (SELECT max(CAST(substr(event_id, length(persona) + 6) AS INTEGER)) FROM outbox WHERE persona = watches.persona AND is_mail = 1), 0
  );
  `,
  `
  CREATE TABLE known (
    persona TEXT NOT NULL,
    key TEXT NOT NULL,
    rest TEXT NOT NULL,
    PRIMARY KEY (persona, key)
  ) STRICT, WITHOUT ROWID;
  `,
  // The checksums of an event and of a saved state; see `computeEventSum`.
  `
  ALTER TABLE outbox ADD COLUMN sum INTEGER;
  ALTER TABLE watches ADD COLUMN sum INTEGER;
  `,
];
