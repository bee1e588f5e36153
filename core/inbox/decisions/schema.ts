/**
 * The tables of the decisions. Instants in milliseconds, `options` a JSON array.
 *
 * `owed` is 1 from the transaction that closes a decision until its persona was notified. It marks the answers that a crash left
 * unreported. `decision_gates` names the personas whose gate, a file, may differ from the decisions. A row is inserted before
 * anything is changed, and the transaction that wrote the file deletes it. Each change has its own row, so that nobody removes
 * the doubt of another change that is not written yet. `decision_waits` has one row per process that waits for an answer. A row
 * is valid until it lapses, because a killed process leaves its row behind.
 */
export const DECISIONS_SCHEMA: readonly string[] = [
  `
  CREATE TABLE decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    persona TEXT NOT NULL,
    prompt TEXT NOT NULL,
    context TEXT,
    options TEXT NOT NULL,
    free_text INTEGER NOT NULL,
    fallback TEXT,
    urgency TEXT NOT NULL,
    blocking INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    most_iterations INTEGER NOT NULL,
    parent INTEGER,
    guidance TEXT,
    created INTEGER NOT NULL,
    expires INTEGER,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'resolved', 'timed-out', 'cancelled')),
    choice TEXT,
    answer TEXT,
    by_ TEXT,
    closed INTEGER,
    next INTEGER,
    owed INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX decisions_open ON decisions (persona) WHERE state = 'open';
  CREATE INDEX decisions_by_expiry ON decisions (expires) WHERE state = 'open';
  CREATE INDEX decisions_owed ON decisions (id) WHERE owed = 1;
  CREATE INDEX decisions_closed ON decisions (closed) WHERE closed IS NOT NULL;

  CREATE TABLE decision_gates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    persona TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE decision_waits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    persona TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;
  `,
];
