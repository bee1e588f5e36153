import type { Instant } from '../../model/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type Database, migrate } from '../../state/index.ts';
import type { Decision, DecisionOption, DecisionUrgency, Outcome } from './decision.ts';

interface DecisionRow {
  readonly id: number;
  readonly persona: string;
  readonly prompt: string;
  readonly context: string | null;
  readonly options: string;
  readonly free_text: number;
  readonly fallback: string | null;
  readonly urgency: string;
  readonly blocking: number;
  readonly iteration: number;
  readonly most_iterations: number;
  readonly parent: number | null;
  readonly guidance: string | null;
  readonly created: number;
  readonly expires: number | null;
  readonly state: 'open' | 'resolved' | 'timed-out' | 'cancelled';
  readonly choice: string | null;
  readonly answer: string | null;
  readonly by_: string | null;
  readonly closed: number | null;
  readonly next: number | null;
}

/** The fields of a new decision: it is open, and no other decision continues it. */
type DecisionFields = Omit<Decision, 'id' | 'outcome' | 'next'>;

interface Doubt {
  readonly id: number;
  readonly persona: string;
  readonly at: Instant;
}

/** The rows of the decisions. No method opens a transaction. */
interface DecisionTable {
  add(decision: DecisionFields): number;
  find(id: number): Decision | null;
  /** Newest first. */
  list(persona: string | null, onlyOpen: boolean, limit: number): readonly Decision[];
  /** Oldest first. */
  listOpen(persona: string): readonly Decision[];
  /** Open decisions that have expired by then. */
  due(at: Instant): readonly Decision[];
  /** When the first open decision expires. */
  nextDue(): Instant | null;
  owed(): readonly Decision[];
  /** @param owed whether the persona must still be notified */
  close(id: number, outcome: Exclude<Outcome, { is: 'open' }>, next: number | null, owed: boolean): void;
  markReported(id: number): void;
  /** Deletes decisions that were closed before then and reported. */
  reap(before: Instant): number;
  /** Notes that the gate of this persona may be wrong, until `trust` removes the doubt. */
  doubt(persona: string, at: Instant): number;
  trust(doubt: number): void;
  doubts(): readonly Doubt[];
  /** Notes that a process waits for this persona until then. @param id of the earlier wait; null: a new one. Returns its id. */
  wait(id: number | null, persona: string, until: Instant): number;
  /** Ends a wait, and those that lapsed by `now`. Returns whether another process waits for this persona. */
  endWait(id: number | null, persona: string, now: Instant): boolean;
}

export function openDecisionTable(db: Database): DecisionTable {
  const insert = db.prepare(
    `INSERT INTO decisions (persona, prompt, context, options, free_text, fallback, urgency, blocking, iteration,
       most_iterations, parent, guidance, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const byId = db.prepare<DecisionRow>('SELECT * FROM decisions WHERE id = ?');
  const newest = db.prepare<DecisionRow>(
    'SELECT * FROM decisions WHERE (?1 IS NULL OR persona = ?1) ORDER BY id DESC LIMIT ?2',
  );
  const open = db.prepare<DecisionRow>(
    "SELECT * FROM decisions WHERE state = 'open' AND (?1 IS NULL OR persona = ?1) ORDER BY id DESC LIMIT ?2",
  );
  const openByPersona = db.prepare<DecisionRow>(
    "SELECT * FROM decisions WHERE state = 'open' AND persona = ? ORDER BY id",
  );
  const due = db.prepare<DecisionRow>("SELECT * FROM decisions WHERE state = 'open' AND expires <= ? ORDER BY id");
  const nextDue = db.prepare<{ at: number | null }>("SELECT min(expires) AS at FROM decisions WHERE state = 'open'");
  const owed = db.prepare<DecisionRow>('SELECT * FROM decisions WHERE owed = 1 ORDER BY id');
  const close = db.prepare(
    `UPDATE decisions SET state = ?, choice = ?, answer = ?, by_ = ?, closed = ?, next = ?, owed = ?
     WHERE id = ? AND state = 'open'`,
  );
  const markReported = db.prepare('UPDATE decisions SET owed = 0 WHERE id = ? AND owed = 1');
  const reap = db.prepare('DELETE FROM decisions WHERE closed < ? AND owed = 0');
  const doubt = db.prepare('INSERT INTO decision_gates (persona, at) VALUES (?, ?)');
  const trust = db.prepare('DELETE FROM decision_gates WHERE id = ?');
  const doubts = db.prepare<Doubt>('SELECT id, persona, at FROM decision_gates ORDER BY id');
  const wait = db.prepare(
    'INSERT INTO decision_waits (id, persona, until) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET until = ?3',
  );
  const endWait = db.prepare('DELETE FROM decision_waits WHERE id = ?1 OR until <= ?2');
  const waits = db.prepare<{ any: number }>('SELECT EXISTS (SELECT 1 FROM decision_waits WHERE persona = ?) AS "any"');
  return {
    add(decision) {
      const content = [
        decision.persona,
        decision.prompt,
        decision.context,
        JSON.stringify(decision.options),
        decision.freeText ? 1 : 0,
        decision.fallback,
      ];
      const how = [
        decision.urgency,
        decision.blocking ? 1 : 0,
        decision.iteration,
        decision.mostIterations,
        decision.parent,
        decision.guidance,
      ];
      return insert.run(
        ...content,
        ...how,
        toWholeMillis(decision.created),
        decision.expires === null ? null : toWholeMillis(decision.expires),
      ).lastInsertRowid;
    },
    find(id) {
      const row = byId.get(id);
      return row === undefined ? null : toDecision(row);
    },
    list: (persona, onlyOpen, limit) => (onlyOpen ? open : newest).all(persona, limit).map(toDecision),
    listOpen: (persona) => openByPersona.all(persona).map(toDecision),
    due: (at) => due.all(toWholeMillis(at)).map(toDecision),
    nextDue: () => nextDue.get()?.at ?? null,
    owed: () => owed.all().map(toDecision),
    close(id, outcome, next, isOwed) {
      const choice = outcome.is === 'resolved' ? outcome.choice : null;
      const text = outcome.is === 'timed-out' ? null : outcome.text;
      const by = outcome.is === 'timed-out' ? null : outcome.by;
      close.run(outcome.is, choice, text, by, toWholeMillis(outcome.at), next, isOwed ? 1 : 0, id);
    },
    markReported: (id) => void markReported.run(id),
    reap: (before) => reap.run(toWholeMillis(before)).changes,
    doubt: (persona, at) => doubt.run(persona, toWholeMillis(at)).lastInsertRowid,
    trust: (id) => void trust.run(id),
    doubts: () => doubts.all(),
    wait(id, persona, until) {
      const { lastInsertRowid } = wait.run(id, persona, toWholeMillis(until));
      return id ?? lastInsertRowid;
    },
    endWait(id, persona, now) {
      endWait.run(id, toWholeMillis(now));
      return waits.get(persona)?.any === 1;
    },
  };
}

function toDecision(row: DecisionRow): Decision {
  return {
    id: row.id,
    persona: row.persona,
    prompt: row.prompt,
    context: row.context,
    options: JSON.parse(row.options) as DecisionOption[],
    freeText: row.free_text === 1,
    fallback: row.fallback,
    urgency: row.urgency as DecisionUrgency,
    blocking: row.blocking === 1,
    iteration: row.iteration,
    mostIterations: row.most_iterations,
    parent: row.parent,
    guidance: row.guidance,
    created: row.created,
    expires: row.expires,
    outcome: toOutcome(row),
    next: row.next,
  };
}

function toOutcome({ state, choice, answer: text, by_: by, closed }: DecisionRow): Outcome {
  const at = closed ?? 0;
  switch (state) {
    case 'open':
      return { is: 'open' };
    case 'resolved':
      return { is: 'resolved', at, by, choice, text };
    case 'timed-out':
      return { is: 'timed-out', at };
    case 'cancelled':
      return { is: 'cancelled', at, by: by ?? '', text };
  }
}

function toWholeMillis(at: Instant): number {
  return Math.floor(at);
}

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

/**
 * Creates a read-only lookup of the unanswered decisions of a persona, oldest first, without those that have expired.
 * @throws Fault `database`, now and at each call
 */
export function createOpenDecisionLookup(
  db: Database,
  clock: Pick<Clock, 'now'>,
): (persona: string) => readonly { readonly id: number; readonly prompt: string }[] {
  migrate(db, 'decisions', DECISIONS_SCHEMA);
  const rows = db.prepare<{ id: number; prompt: string }>(
    `SELECT id, prompt FROM decisions
     WHERE state = 'open' AND persona = ?1 AND (expires IS NULL OR expires > ?2) ORDER BY id`,
  );
  return (persona) => rows.all(persona, Math.floor(clock.now()));
}

/** Returns a function that counts all decisions of a persona, closed ones too. */
export function openDecisionCounter(db: Database): (persona: string) => number {
  migrate(db, 'decisions', DECISIONS_SCHEMA);
  const count = db.prepare<{ n: number }>('SELECT count(*) AS n FROM decisions WHERE persona = ?');
  return (persona) => count.get(persona)?.n ?? 0;
}

/**
 * Removes all decisions of a persona, or those with one prompt, without an answer to anybody. The gate of one that is open is for
 * the caller.
 */
export function removeDecisions(db: Database, persona: string, prompt: string | null = null): void {
  migrate(db, 'decisions', DECISIONS_SCHEMA);
  if (prompt !== null)
    return void db.prepare('DELETE FROM decisions WHERE persona = ? AND prompt = ?').run(persona, prompt);
  for (const table of ['decisions', 'decision_gates', 'decision_waits'])
    db.prepare(`DELETE FROM ${table} WHERE persona = ?`).run(persona);
}
