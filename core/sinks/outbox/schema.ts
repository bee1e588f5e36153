/**
 * The tables of the outbox. `journal` is one row: the name of this database, and the last record of the journal file
 * that is in the tables (see `Journal`). `line` is the event exactly as it stands in the persona's file, without the newline. Each row
 * is in one of the two indices on `event_id`: mail is unique (the same message has the same id for ever), other events
 * are looked up only. `watches.kept` is what a watch wants remembered; `watches.published` is the last `seq` of which its
 * file is known to be on the disk; `watches.newest` the highest id of a mail, or of a change to one, that was told; `known` what is remembered of the
 * things of a set (see `KnownChange`). `seq` is counted by the one
 * process that takes, on from the newest row, which is never deleted: so no number comes again.
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
  // The checksum of an event, and of what a watch wants remembered; see `computeEventSum`.
  `
  ALTER TABLE outbox ADD COLUMN sum INTEGER;
  ALTER TABLE watches ADD COLUMN sum INTEGER;
  `,
];
