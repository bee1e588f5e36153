/**
 * The tables of the outbox. `line` is the event exactly as it stands in the persona's file, without the newline. Each row
 * is in one of the two indices on `event_id`: mail is unique (the same message has the same id for ever), other events
 * are looked up only. `watches.kept` is what a watch wants remembered; `watches.published` is the last `seq` of which its
 * file is known to be on the disk. `seq` rises without AUTOINCREMENT, which would cost a page a commit: the newest rows are
 * never deleted, so no number comes again.
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
];
