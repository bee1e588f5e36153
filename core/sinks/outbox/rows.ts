import { type Event, isMail, parseEventLine } from '../../events/index.ts';
import type { KnownItem, KnownSet, PersonaId } from '../../model/index.ts';
import { type Database, migrate, runLaterTransaction } from '../../state/index.ts';
import { formatDamagedLine, isWholeRow, type SummedRow } from './reconcile.ts';

/** One committed event. */
export interface OutboxRow {
  /** Rises across all personas, in the order in which events were taken. */
  readonly seq: number;
  readonly persona: PersonaId;
  readonly eventId: string;
  /** The event as JSON: one line without its newline. */
  readonly line: string;
}

export type OutboxReplay =
  | { readonly is: 'rows'; readonly rows: readonly OutboxRow[] }
  /** No event has this id, or it is no longer kept. How much was missed is unknown. */
  | { readonly is: 'unknown-id' };

/**
 * Reads the delivered events, for followers that have their own position. In a process other than the tray process, the
 * events of the last second may be missing.
 */
export interface OutboxReader {
  /** Returns the oldest `limit` events after the event with this id, or of all kept events. `persona` null: of all personas. */
  since(persona: PersonaId | null, afterEventId: string | null, limit: number): OutboxReplay;
  /** Does the same by position, to continue a long replay. */
  after(persona: PersonaId | null, seq: number, limit: number): readonly OutboxRow[];
  lastEventId(persona: PersonaId): string | null;
  /** Returns the newest `limit` events of mail, oldest first. */
  lastMail(persona: PersonaId, limit: number): readonly Event[];
  /** Returns the newest `limit` events of mail before this `seq` (null: the newest of all), newest first. */
  mailBefore(persona: PersonaId, seq: number | null, limit: number): readonly OutboxRow[];
  /** Returns the newest `limit` events, oldest first. `persona` null: of all personas. */
  listNewest(persona: PersonaId | null, limit: number): readonly OutboxRow[];
  /** Returns the last event of all personas, where a follower begins that wants only future events. */
  newest(): OutboxRow | null;
}

/**
 * Opens the reader. `fill` brings the tables up to date before they are read; a process that only reads omits it.
 * @throws Fault `database`; so does each of its methods.
 */
export function openOutboxReader(db: Database, fill: () => void = () => {}): OutboxReader {
  migrate(db, 'outbox', OUTBOX_SCHEMA);
  const columns = 'seq, persona, event_id AS eventId, line, sum';
  const selectOfAll = db.prepare<SummedRow>(`SELECT ${columns} FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?`);
  const selectOfOne = db.prepare<SummedRow>(
    `SELECT ${columns} FROM outbox WHERE persona = ? AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const last = db.prepare<{ eventId: string }>(
    'SELECT event_id AS eventId FROM outbox WHERE persona = ? ORDER BY seq DESC LIMIT 1',
  );
  const selectMail = db.prepare<SummedRow>(
    `SELECT ${columns} FROM outbox WHERE persona = ? AND is_mail = 1 AND seq < ? ORDER BY seq DESC LIMIT ?`,
  );
  const selectNewestOfAll = db.prepare<SummedRow>(`SELECT ${columns} FROM outbox ORDER BY seq DESC LIMIT ?`);
  const selectNewestOfOne = db.prepare<SummedRow>(
    `SELECT ${columns} FROM outbox WHERE persona = ? ORDER BY seq DESC LIMIT ?`,
  );
  const newest = db.prepare<SummedRow>(`SELECT ${columns} FROM outbox ORDER BY seq DESC LIMIT 1`);
  const find = db.prepare<{ seq: number | null }>(
    `SELECT max(seq) AS seq FROM (
       SELECT seq FROM outbox WHERE event_id = ?1 AND is_mail = 1 UNION ALL SELECT seq FROM outbox WHERE event_id = ?1 AND is_mail = 0
     )`,
  );

  function after(persona: PersonaId | null, seq: number, limit: number): readonly OutboxRow[] {
    fill();
    const rows = persona === null ? selectOfAll.all(seq, limit) : selectOfOne.all(persona, seq, limit);
    return rows.map(toRow);
  }

  return {
    after,
    since(persona, afterEventId, limit) {
      if (afterEventId === null) return { is: 'rows', rows: after(persona, 0, limit) };
      fill();
      const seq = find.get(afterEventId)?.seq ?? null;
      return seq === null ? { is: 'unknown-id' } : { is: 'rows', rows: after(persona, seq, limit) };
    },
    lastEventId(persona) {
      fill();
      return last.get(persona)?.eventId ?? null;
    },
    lastMail(persona, limit) {
      fill();
      return selectMail
        .all(persona, Number.MAX_SAFE_INTEGER, limit)
        .flatMap((row) => (isWholeRow(row) ? (parseEventLine(row.line) ?? []) : []))
        .reverse();
    },
    mailBefore(persona, seq, limit) {
      fill();
      return selectMail.all(persona, seq ?? Number.MAX_SAFE_INTEGER, limit).map(toRow);
    },
    listNewest(persona, limit) {
      fill();
      const rows = persona === null ? selectNewestOfAll.all(limit) : selectNewestOfOne.all(persona, limit);
      return rows.map(toRow).reverse();
    },
    newest() {
      fill();
      const row = newest.get();
      return row === undefined ? null : toRow(row);
    },
  };
}

/** Converts a row. An event that changed since it was taken is delivered as damaged. */
function toRow(row: SummedRow): OutboxRow {
  const { seq, persona, eventId } = row;
  return { seq, persona, eventId, line: isWholeRow(row) ? row.line : formatDamagedLine(row) };
}

/** What the publisher reads and writes: the lines that a file lacks, and the lines that it has. */
export interface PublishedRows {
  /** Returns the newest row of the persona (0 without any), and the last row that is on the disk in its file. */
  readProgress(persona: PersonaId): { readonly stored: number; readonly published: number };
  /** Returns the rows after `seq`: at least one if there is one, and not much more than `bytes` of lines. */
  next(persona: PersonaId, seq: number, bytes: number): readonly OutboxRow[];
  /** Returns the `seq` of this line; null when it is no event of the persona, or no longer kept. */
  findSeq(persona: PersonaId, line: string): number | null;
  /** Runs `work` in one transaction. `work` calls `setPublished` and `prune`. */
  runInTransaction(work: () => void): void;
  /** Must run within `runInTransaction`. */
  setPublished(persona: PersonaId, seq: number): void;
  /**
   * Must run within `runInTransaction`. Deletes the rows that are published, older than `olderThan` and not among the
   * newest `minRows` of the persona.
   */
  prune(persona: PersonaId, olderThan: number, minRows: number): void;
}

/** Opens the rows. `fill` brings the tables up to date before they are read. */
export function openPublishedRows(db: Database, fill: () => void): PublishedRows {
  const stored = db.prepare<{ seq: number }>('SELECT seq FROM outbox WHERE persona = ? ORDER BY seq DESC LIMIT 1');
  const published = db.prepare<{ published: number }>('SELECT published FROM watches WHERE persona = ?');
  const next = db.prepare<SummedRow>(
    'SELECT seq, persona, event_id AS eventId, line, sum FROM outbox WHERE persona = ? AND seq > ? ORDER BY seq',
  );
  const mail = db.prepare<{ seq: number }>('SELECT seq FROM outbox WHERE event_id = ? AND persona = ? AND is_mail = 1');
  // Other events can repeat an id, for example when a watcher is reopened, so the whole line decides.
  const other = db.prepare<{ seq: number }>(
    'SELECT seq FROM outbox WHERE event_id = ? AND persona = ? AND is_mail = 0 AND line = ? ORDER BY seq DESC LIMIT 1',
  );
  const set = db.prepare('UPDATE watches SET published = ? WHERE persona = ? AND published < ?1');
  const prune = db.prepare(
    `DELETE FROM outbox WHERE persona = ?1 AND at < ?2
       AND seq <= (SELECT published FROM watches WHERE persona = ?1)
       AND seq <= (SELECT seq FROM outbox WHERE persona = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?3)`,
  );

  return {
    readProgress(persona) {
      fill();
      return { stored: stored.get(persona)?.seq ?? 0, published: published.get(persona)?.published ?? 0 };
    },
    next(persona, seq, bytes) {
      fill();
      const rows: OutboxRow[] = [];
      let left = bytes;
      for (const row of next.iterate(persona, seq)) {
        rows.push(toRow(row));
        left -= row.line.length;
        if (left <= 0) break;
      }
      return rows;
    },
    findSeq(persona, line) {
      const event = parseEventLine(line);
      if (event === null) return null;
      fill();
      const row = isMail(event) ? mail.get(event.event_id, persona) : other.get(event.event_id, persona, line);
      return row?.seq ?? null;
    },
    runInTransaction(work) {
      fill();
      runLaterTransaction(db, work);
    },
    setPublished: (persona, seq) => void set.run(seq, persona),
    prune: (persona, olderThan, minRows) => void prune.run(persona, olderThan, minRows),
  };
}

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

/**
 * The changes that one `take` makes to the known items of a set. The items are stored one per row, beside the other
 * saved state of a watcher. So one message costs one row and not the whole set. Keys in `drop` are applied first.
 */
export interface KnownChange {
  readonly drop: readonly string[];
  readonly put: readonly KnownRow[];
}

type KnownRow = readonly [key: string, ...rest: Rest];
type Rest = readonly [
  seq: KnownItem['seq'],
  fingerprint: KnownItem['fingerprint'],
  changes: KnownItem['changes'],
  vanished: KnownItem['vanished'],
  extra: KnownItem['extra'],
  /** True: the item is no longer present, but is still stored. */
  flag?: true | 'asks',
];

/** The parts of a set that are stored item by item. */
export type StoredSet = Pick<KnownSet, 'keys' | 'gone'>;

/**
 * Finds the changes between two sets; null when there are none. It is fast because most items are the same object in
 * the same order.
 */
export function findChange(before: StoredSet, after: StoredSet): KnownChange | null {
  const drop: string[] = [];
  const put: KnownRow[] = [];
  compareKeys(before.keys, after.keys, drop, (known) => put.push(toKnownRow(known)));
  compareKeys(before.gone ?? NO_ITEMS, after.gone ?? NO_ITEMS, drop, (known) => put.push(toGoneRow(known)));
  return drop.length === 0 && put.length === 0 ? null : { drop, put };
}

const NO_ITEMS: readonly KnownItem[] = [];

function compareKeys(
  before: readonly KnownItem[],
  after: readonly KnownItem[],
  drop: string[],
  put: (known: KnownItem) => unknown,
): void {
  if (before === after) return;
  let at = 0;
  for (const old of before) {
    const now = after[at];
    if (now?.key === old.key) {
      if (now !== old) put(now);
      at += 1;
    } else drop.push(old.key);
  }
  for (const known of after.slice(at)) put(known);
}

function toKnownRow({ key, seq, fingerprint, changes, vanished, extra, asks }: KnownItem): KnownRow {
  return asks === true
    ? [key, seq, fingerprint, changes, vanished, extra, 'asks']
    : [key, seq, fingerprint, changes, vanished, extra];
}

function toGoneRow({ key, seq, fingerprint, changes, vanished, extra }: KnownItem): KnownRow {
  return [key, seq, fingerprint, changes, vanished, extra, true];
}

/** Estimates the number of characters of its JSON. */
export function countKnownChars({ drop, put }: KnownChange): number {
  let chars = 0;
  for (const key of drop) chars += key.length;
  for (const [key, , fingerprint] of put) chars += 2 * key.length + fingerprint.length + 50;
  return chars;
}

/** Opens the table of known items. A key is stored as JSON, which can represent any text. */
export function openKnownTable(db: Database) {
  const drop = db.prepare('DELETE FROM known WHERE persona = ? AND key = ?');
  const put = db.prepare(
    `INSERT INTO known (persona, key, rest) VALUES (?, ?, ?)
     ON CONFLICT (persona, key) DO UPDATE SET rest = excluded.rest`,
  );
  const ofOne = db.prepare<{ key: string; rest: string }>('SELECT key, rest FROM known WHERE persona = ? ORDER BY key');
  return {
    of(persona: PersonaId): StoredSet {
      const items = ofOne.all(persona).map(fromRow);
      const keys = items.flatMap(({ known, isGone }) => (isGone ? [] : [known]));
      const gone = items.flatMap(({ known, isGone }) => (isGone ? [known] : []));
      gone.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)); // roughly the order in which they vanished
      return gone.length === 0 ? { keys } : { keys, gone };
    },
    /** Must run within a transaction. */
    apply(persona: PersonaId, change: KnownChange): void {
      for (const key of change.drop) drop.run(persona, JSON.stringify(key));
      for (const [key, ...rest] of change.put) put.run(persona, JSON.stringify(key), JSON.stringify(rest));
    },
  };
}

function fromRow(row: { readonly key: string; readonly rest: string }) {
  const [seq, fingerprint, changes, vanished, extra, flag] = JSON.parse(row.rest) as Rest;
  const known: KnownItem = { key: JSON.parse(row.key) as string, seq, fingerprint, changes, vanished, extra };
  return { known: flag === 'asks' ? { ...known, asks: true as const } : known, isGone: flag === true };
}
