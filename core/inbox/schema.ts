/**
 * The tables of the local hive. `seq` is the public message id: it always rises and is never used again. `dedup_key` is the
 * message's name outside of this database (the `uuid` of version 1).
 *
 * `read_at` says that somebody read the mail. `delivered_at` says that a session was shown it, which also reads it. A lease
 * counts until `leased_until`. `urgent` means priority 0 or 1; writers of version 1 give `urgent` and no priority.
 *
 * A broadcast is one row without a persona (`persona` is '', which is no valid name). Each persona has its own row for it in
 * `broadcast_acks`, from the start, so that one persona does not consume the broadcast of another. These rows are searched the
 * same way as `inbox`, however many broadcasts there were. A persona that appears later gets the broadcasts that have not
 * expired. The acknowledgements repeat the columns that the order of a drain needs.
 *
 * `origin` is 'hivebar' for what Hivebar itself says (answers of decisions, results of gates), else null. Only such a row has a
 * key that begins with `hivebar:`. Each of these keys is unique, so nobody else can take the place of an answer. Such a row is
 * for the agent and not for the person who gave the answer, so `agent_unread` and `agent_urgent` count it separately; `unread`
 * and `urgent` count everything. A key is unique per persona (a broadcast has the persona '').
 *
 * `personas.drained_at` is when an agent was last shown its inbox here. `elsewhere` says that the persona lives on another
 * machine and not here. `personas_elsewhere` lists these personas, even before anything was sent to them.
 *
 * `personas.rev` is the number of the last change of a persona's mail. One counter serves all personas, so "what changed since"
 * is one index lookup, even if another process made the change. Triggers maintain the rows of `personas` for every writer, so a
 * count costs the same however much mail there is. `last_id` stays when the mail is deleted: an inbox whose mail has aged away
 * does not start over.
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
  `
  CREATE TABLE items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    persona TEXT NOT NULL,
    type TEXT NOT NULL DEFAULT 'mail',
    from_ TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 2,
    urgent INTEGER NOT NULL,
    session TEXT,
    created INTEGER NOT NULL,
    expires_at INTEGER,
    read_at INTEGER,
    delivered_at INTEGER,
    lease TEXT,
    leased_until INTEGER,
    dedup_key TEXT NOT NULL UNIQUE DEFAULT ('mail:' || lower(hex(randomblob(16)))),
    content TEXT NOT NULL
  ) STRICT;
  INSERT INTO items (seq, persona, from_, content, priority, urgent, created, read_at, dedup_key)
    SELECT seq, persona, from_, content, iif(urgent = 1, 1, 2), urgent, created, read_at, 'mail:' || uuid
    FROM inbox ORDER BY seq;
  DELETE FROM sqlite_sequence WHERE name = 'items';
  INSERT INTO sqlite_sequence (name, seq) SELECT 'items', seq FROM sqlite_sequence WHERE name = 'inbox';
  DROP TABLE inbox;
  ALTER TABLE items RENAME TO inbox;
  CREATE INDEX inbox_by_persona ON inbox (persona);
  CREATE INDEX inbox_pending ON inbox (persona, session, priority, created, seq, expires_at, leased_until)
    WHERE read_at IS NULL;
  CREATE INDEX inbox_expiring ON inbox (expires_at)
    WHERE expires_at IS NOT NULL AND read_at IS NULL AND persona <> '';

  CREATE TABLE broadcast_acks (
    persona TEXT NOT NULL,
    seq INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    created INTEGER NOT NULL,
    expires_at INTEGER,
    read_at INTEGER,
    delivered_at INTEGER,
    lease TEXT,
    leased_until INTEGER,
    PRIMARY KEY (persona, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX broadcast_acks_by_seq ON broadcast_acks (seq);
  CREATE INDEX broadcast_acks_pending ON broadcast_acks (persona, priority, created, seq, expires_at, leased_until)
    WHERE read_at IS NULL;
  CREATE INDEX broadcast_acks_expiring ON broadcast_acks (expires_at)
    WHERE expires_at IS NOT NULL AND read_at IS NULL;

  CREATE TRIGGER inbox_urgent AFTER INSERT ON inbox WHEN NEW.urgent = 1 AND NEW.priority > 1 BEGIN
    UPDATE inbox SET priority = 1 WHERE seq = NEW.seq;
  END;
  CREATE TRIGGER inbox_came AFTER INSERT ON inbox WHEN NEW.persona <> '' BEGIN
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
  CREATE TRIGGER inbox_went AFTER DELETE ON inbox WHEN OLD.read_at IS NULL AND OLD.persona <> '' BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - OLD.urgent,
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;

  CREATE TRIGGER broadcast_came AFTER INSERT ON inbox WHEN NEW.persona = '' BEGIN
    INSERT INTO broadcast_acks (persona, seq, priority, created, expires_at)
    SELECT name, NEW.seq, NEW.priority, NEW.created, NEW.expires_at FROM personas;
  END;
  CREATE TRIGGER broadcast_went AFTER DELETE ON inbox WHEN OLD.persona = '' BEGIN
    DELETE FROM broadcast_acks WHERE seq = OLD.seq;
  END;
  CREATE TRIGGER persona_appeared AFTER INSERT ON personas BEGIN
    INSERT INTO broadcast_acks (persona, seq, priority, created, expires_at)
    SELECT NEW.name, seq, priority, created, expires_at FROM inbox
    WHERE persona = '' AND (expires_at IS NULL OR expires_at > NEW.created);
  END;
  CREATE TRIGGER broadcast_ack_came AFTER INSERT ON broadcast_acks BEGIN
    UPDATE personas SET last_id = max(last_id, NEW.seq), unread = unread + 1, urgent = urgent + (NEW.priority <= 1),
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = NEW.persona;
  END;
  CREATE TRIGGER broadcast_was_read AFTER UPDATE OF read_at ON broadcast_acks
  WHEN OLD.read_at IS NULL AND NEW.read_at IS NOT NULL BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - (OLD.priority <= 1),
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;
  CREATE TRIGGER broadcast_ack_went AFTER DELETE ON broadcast_acks WHEN OLD.read_at IS NULL BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - (OLD.priority <= 1),
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;
  `,
  // The checksum of a message, see `Seals`.
  'ALTER TABLE inbox ADD COLUMN sum INTEGER',
  `
  DROP TRIGGER persona_appeared;
  DROP TRIGGER broadcast_ack_came;

  CREATE TABLE items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    persona TEXT NOT NULL,
    type TEXT NOT NULL DEFAULT 'mail',
    from_ TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 2,
    urgent INTEGER NOT NULL,
    session TEXT,
    created INTEGER NOT NULL,
    expires_at INTEGER,
    read_at INTEGER,
    delivered_at INTEGER,
    lease TEXT,
    leased_until INTEGER,
    dedup_key TEXT NOT NULL DEFAULT ('mail:' || lower(hex(randomblob(16)))),
    origin TEXT CHECK (origin = 'hivebar'),
    content TEXT NOT NULL,
    sum INTEGER,
    UNIQUE (persona, dedup_key),
    CHECK (origin IS NOT NULL OR dedup_key NOT LIKE 'hivebar:%')
  ) STRICT;
  INSERT INTO items (seq, persona, type, from_, priority, urgent, session, created, expires_at, read_at, delivered_at,
      lease, leased_until, dedup_key, content, sum)
    SELECT seq, persona, type, from_, priority, urgent, session, created, expires_at, read_at, delivered_at,
      lease, leased_until, iif(dedup_key LIKE 'hivebar:%', 'foreign:' || dedup_key, dedup_key), content, sum
    FROM inbox ORDER BY seq;
  DELETE FROM sqlite_sequence WHERE name = 'items';
  INSERT INTO sqlite_sequence (name, seq) SELECT 'items', seq FROM sqlite_sequence WHERE name = 'inbox';
  DROP TABLE inbox;
  ALTER TABLE items RENAME TO inbox;
  CREATE INDEX inbox_by_persona ON inbox (persona);
  CREATE INDEX inbox_pending ON inbox (persona, session, priority, created, seq, expires_at, leased_until, origin)
    WHERE read_at IS NULL;
  CREATE INDEX inbox_expiring ON inbox (expires_at)
    WHERE expires_at IS NOT NULL AND read_at IS NULL AND persona <> '';
  CREATE INDEX inbox_for_session ON inbox (persona, session) WHERE session IS NOT NULL AND read_at IS NULL;
  CREATE UNIQUE INDEX inbox_own_words ON inbox (dedup_key) WHERE origin IS NOT NULL;

  ALTER TABLE personas ADD COLUMN agent_unread INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE personas ADD COLUMN agent_urgent INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE personas ADD COLUMN drained_at INTEGER;
  ALTER TABLE personas ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0;

  CREATE TRIGGER inbox_urgent AFTER INSERT ON inbox WHEN NEW.urgent = 1 AND NEW.priority > 1 BEGIN
    UPDATE inbox SET priority = 1 WHERE seq = NEW.seq;
  END;
  CREATE TRIGGER inbox_came AFTER INSERT ON inbox WHEN NEW.persona <> '' BEGIN
    INSERT INTO personas (name, created, last_id, rev, unread, urgent, agent_unread, agent_urgent)
    VALUES (NEW.persona, NEW.created, NEW.seq, (SELECT coalesce(max(rev), 0) + 1 FROM personas),
            NEW.read_at IS NULL, iif(NEW.read_at IS NULL, NEW.urgent, 0),
            NEW.read_at IS NULL AND NEW.origin IS NOT NULL,
            iif(NEW.read_at IS NULL AND NEW.origin IS NOT NULL, NEW.urgent, 0))
    ON CONFLICT (name) DO UPDATE SET last_id = excluded.last_id, rev = excluded.rev,
      unread = unread + excluded.unread, urgent = urgent + excluded.urgent,
      agent_unread = agent_unread + excluded.agent_unread, agent_urgent = agent_urgent + excluded.agent_urgent;
  END;
  CREATE TRIGGER inbox_was_read AFTER UPDATE OF read_at ON inbox WHEN OLD.read_at IS NULL AND NEW.read_at IS NOT NULL BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - OLD.urgent,
      agent_unread = agent_unread - (OLD.origin IS NOT NULL),
      agent_urgent = agent_urgent - iif(OLD.origin IS NOT NULL, OLD.urgent, 0),
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;
  CREATE TRIGGER inbox_went AFTER DELETE ON inbox WHEN OLD.read_at IS NULL AND OLD.persona <> '' BEGIN
    UPDATE personas SET unread = unread - 1, urgent = urgent - OLD.urgent,
      agent_unread = agent_unread - (OLD.origin IS NOT NULL),
      agent_urgent = agent_urgent - iif(OLD.origin IS NOT NULL, OLD.urgent, 0),
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = OLD.persona;
  END;

  CREATE TRIGGER broadcast_came AFTER INSERT ON inbox WHEN NEW.persona = '' BEGIN
    INSERT INTO broadcast_acks (persona, seq, priority, created, expires_at, read_at)
    SELECT name, NEW.seq, NEW.priority, NEW.created, NEW.expires_at, iif(lower(name) = lower(NEW.from_), NEW.created, NULL)
    FROM personas;
  END;
  CREATE TRIGGER broadcast_went AFTER DELETE ON inbox WHEN OLD.persona = '' BEGIN
    DELETE FROM broadcast_acks WHERE seq = OLD.seq;
  END;
  CREATE TRIGGER persona_appeared AFTER INSERT ON personas BEGIN
    INSERT INTO broadcast_acks (persona, seq, priority, created, expires_at, read_at)
    SELECT NEW.name, seq, priority, created, expires_at, iif(lower(NEW.name) = lower(from_), NEW.created, NULL) FROM inbox
    WHERE persona = '' AND (expires_at IS NULL OR expires_at > NEW.created);
  END;
  CREATE TRIGGER broadcast_ack_came AFTER INSERT ON broadcast_acks BEGIN
    UPDATE personas SET last_id = max(last_id, NEW.seq), unread = unread + (NEW.read_at IS NULL),
      urgent = urgent + (NEW.read_at IS NULL AND NEW.priority <= 1),
      rev = (SELECT max(rev) + 1 FROM personas) WHERE name = NEW.persona;
  END;
  `,
  `
  CREATE TABLE personas_elsewhere (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TRIGGER persona_is_elsewhere AFTER INSERT ON personas
  WHEN EXISTS (SELECT 1 FROM personas_elsewhere WHERE name = NEW.name) BEGIN
    UPDATE personas SET elsewhere = 1 WHERE name = NEW.name;
  END;
  `,
];
