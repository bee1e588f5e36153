/**
 * The tables of the history.
 *
 * A point is valid from its `at` (milliseconds) until the next point of the persona; `state` is an index of `STATES`,
 * and null means not known. `record` has one row: `seen` is the last time somebody was there to write, and `high` the
 * highest `at` of a point. `high` is above `seen` after a clock was set back; then new points replace the old ones. A
 * member of an alert is one problem of one persona or source; `is_open`: the problem continues.
 */
export const HISTORY_SCHEMA: readonly string[] = [
  `
  CREATE TABLE personas (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE points (
    persona INTEGER NOT NULL,
    at INTEGER NOT NULL,
    unread INTEGER,
    urgent INTEGER,
    state INTEGER NOT NULL,
    PRIMARY KEY (persona, at)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE record (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seen INTEGER NOT NULL,
    high INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE alerts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    message TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER
  ) STRICT;
  CREATE INDEX alerts_by_since ON alerts (since);
  CREATE INDEX alerts_open ON alerts (id) WHERE until IS NULL;

  CREATE TABLE alert_members (
    alert INTEGER NOT NULL,
    why TEXT NOT NULL,
    name TEXT NOT NULL,
    is_open INTEGER NOT NULL,
    PRIMARY KEY (alert, why, name)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** Marks the file as a history of Hivebar (PRAGMA application_id): "hbhi". */
export const APPLICATION_ID = 0x68626869;
