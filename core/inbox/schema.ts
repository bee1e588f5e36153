/**
 * The tables of the local hive. `seq` is the public message id: strictly rising, never used again. `uuid` is the message's
 * name outside of this database.
 *
 * `read_at` says that somebody read the mail; whether it was delivered to a session is another matter and another column
 * to come. `personas.rev` is the number of the last change of a persona's mail, drawn from one counter for all of them,
 * so that "what changed since" is one look into an index, also when another process made the change. The triggers keep the
 * rows of `personas`, whoever writes, so that a count costs the same however much mail there is. `last_id` outlives
 * the mail it counted: an inbox whose mail has aged away does not start over.
 */
export const INBOX_SCHEMA: readonly string[] = [
  `
  CREATE TABLE personas (
    name TEXT PRIMARY KEY,
    created INTEGER NOT NULL,
    last_id INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    unread INTEGER NOT NULL,
    urgent INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX personas_by_rev ON personas (rev);

  CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
    persona TEXT NOT NULL,
    from_ TEXT NOT NULL,
    content TEXT NOT NULL,
    urgent INTEGER NOT NULL,
    created INTEGER NOT NULL,
    read_at INTEGER
  ) STRICT;
  CREATE INDEX inbox_by_persona ON inbox (persona);
  CREATE INDEX inbox_unread ON inbox (persona) WHERE read_at IS NULL;

  CREATE TRIGGER inbox_came AFTER INSERT ON inbox BEGIN
    INSERT INTO personas (name, created, last_id, rev, unread, urgent)
    VALUES (NEW.persona, NEW.created, NEW.seq, (SELECT coalesce(max(rev), 0) + 1 FROM personas),
            NEW.read_at IS NULL, iif(NEW.read_at IS NULL, NEW.urgent, 0))
    ON CONFLICT (name) DO UPDATE SET last_id = excluded.last_id, rev = excluded.rev,
      unread = unread + excluded.unread, urgent = urgent + excluded.urgent;
  END;
  CREATE TRIGGER inbox_was_read AFTER UPDATE OF read_at ON inbox WHEN OLD.read_at IS NULL AND NEW.read_at IS NOT NULL BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - OLD.urgent,
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;
  CREATE TRIGGER inbox_went AFTER DELETE ON inbox WHEN OLD.read_at IS NULL BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - OLD.urgent,
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;
  `,
];
