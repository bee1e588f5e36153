import type { Instant } from '../model/index.ts';
import { crc32, type Database, migrate, runLaterTransaction, runTransaction } from '../state/index.ts';
import type { NewMessage } from './new-item.ts';
import { INBOX_SCHEMA } from './schema.ts';

/** A message as its event reported it, to be restored if the database has lost it. */
export interface TrackedMail {
  readonly id: number;
  readonly to: string;
  readonly from: string;
  readonly content: string;
  readonly created: Instant;
  /** The reader of the message is known to have it. */
  readonly isRead: boolean;
}

/**
 * Repairs a database that is older than the events reported from it. No id may be assigned twice, and messages that only an event
 * file still has are restored.
 */
export interface Continuity {
  /** The highest id ever assigned, as far as the database knows. */
  lastId(): number;
  /** Restores messages under their ids, unless an id is taken. Returns how many. @throws Fault */
  restore(mails: readonly TrackedMail[]): number;
  /** Counts the content of each inbox again, after rows were lost. @throws Fault */
  recount(): void;
  /**
   * Raises the next id above `floor`. A message created after `since` may have an id that was reported for another message, so it
   * gets a new id. Returns how many messages got one. @throws Fault
   */
  raise(floor: number, since: Instant): number;
}

export function openContinuity(db: Database): Continuity {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const last = db.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'");
  const setLast = db.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'inbox'");
  const addLast = db.prepare(
    "INSERT INTO sqlite_sequence (name, seq) SELECT 'inbox', ? WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'inbox')",
  );
  const insert = db.prepare(`
    INSERT INTO inbox (seq, persona, from_, priority, urgent, created, read_at, content)
    VALUES (?, ?, ?, 2, 0, ?, ?, ?) ON CONFLICT (seq) DO NOTHING`);
  const conflicting = db.prepare<{ seq: number }>('SELECT seq FROM inbox WHERE seq <= ? AND created > ? ORDER BY seq');
  const move = db.prepare('UPDATE inbox SET seq = ?2 WHERE seq = ?1');
  const moveAcks = db.prepare('UPDATE broadcast_acks SET seq = ?2 WHERE seq = ?1');
  const touch = db.prepare(`
    UPDATE personas SET last_id = max(last_id, ?1), rev = (SELECT max(rev) + 1 FROM personas)
    WHERE name IN (SELECT persona FROM inbox WHERE seq = ?1 UNION SELECT persona FROM broadcast_acks WHERE seq = ?1)`);
  const seals = openSeals(db);
  const lastId = (): number => last.get()?.seq ?? 0;

  return {
    lastId,
    recount() {
      runTransaction(db, () => {
        db.exec(`
          INSERT INTO personas (name, created, last_id, rev, unread, urgent)
          SELECT persona, min(created), 0, (SELECT coalesce(max(rev), 0) FROM personas) + row_number() OVER (), 0, 0
          FROM inbox WHERE persona <> '' AND persona NOT IN (SELECT name FROM personas) GROUP BY persona;
          UPDATE personas SET
            unread = (SELECT count(*) FROM inbox WHERE persona = name AND read_at IS NULL)
              + (SELECT count(*) FROM broadcast_acks AS a WHERE a.persona = name AND a.read_at IS NULL),
            urgent = (SELECT coalesce(sum(i.urgent), 0) FROM inbox AS i WHERE persona = name AND read_at IS NULL)
              + (SELECT count(*) FROM broadcast_acks AS a WHERE a.persona = name AND a.read_at IS NULL AND a.priority <= 1),
            last_id = max(last_id, (SELECT coalesce(max(seq), 0) FROM inbox WHERE persona = name));
          UPDATE personas SET rev = rev + (SELECT max(rev) FROM personas)`);
      });
    },
    restore(mails) {
      const insertMail = ({ id, to, from, content, created, isRead }: TrackedMail): number => {
        const { changes } = insert.run(id, to, from, created, isRead ? created : null, content);
        if (changes > 0) seals.seal(id);
        return changes;
      };
      return runTransaction(db, () => mails.reduce((count, mail) => count + insertMail(mail), 0));
    },
    raise(floor, since) {
      return runTransaction(db, () => {
        addLast.run(floor);
        const moved = conflicting.all(floor, since);
        setLast.run(floor);
        let next = lastId();
        for (const { seq } of moved) {
          next += 1;
          const isWhole = seals.isWhole(seq);
          move.run(seq, next);
          moveAcks.run(seq, next);
          touch.run(next);
          if (isWhole) seals.seal(next);
        }
        setLast.run(next);
        return moved.length;
      });
    },
  };
}

/**
 * A checksum per message, so that text which the disk or a stray write changed is not served as what somebody sent. It covers the
 * message, not who read it. A row of an earlier version has no checksum until `sealAll`.
 */
interface Seals {
  /** Stores the checksum. Call it in the transaction that stored the message. */
  seal(id: number): void;
  /** False: the message has changed since it was stored. */
  isWhole(id: number): boolean;
}

/** What a statement over many messages selects, so that their checksums need no query each. */
export interface SealColumns {
  /** Null: the message is long. Ask `isWhole`, so that no statement holds the text of many long messages. */
  readonly whole: string | null;
  readonly sum: number | null;
}

/** Shown as the sender of a damaged message, because its stored sender cannot be trusted either. */
export const DAMAGED_FROM = '(damaged)';

export function formatDamaged(id: number): string {
  return `[Message ${id} is damaged on the disk: it does not match its checksum, so its text is not shown. Run hivebar doctor.]`;
}

interface SealedRow {
  /** All covered columns, as one text. */
  readonly whole: string;
  readonly sum: number | null;
}

/** The content comes last, so that no two messages give the same text: names have no control characters. */
const COVERED = [
  // A row without an origin keeps the checksum that it had before the column existed.
  ...['seq', 'persona', "type || coalesce(origin, '')", 'from_', 'priority', 'urgent'],
  ...["coalesce(session, '')", 'created', "coalesce(expires_at, '')", 'content'],
].join(' || char(31) || ');

/**
 * Returns the checksum of plain mail that is about to be stored, which saves reading and writing its row once more.
 */
export function computeMailSum(id: number, { to, from, content, urgent }: NewMessage, created: Instant): number {
  const covered = [id, to, 'mail', from, urgent ? 1 : 2, urgent ? 1 : 0, '', created, '', content];
  return crc32(covered.join('\u001f'));
}

/** A longer message, in characters, is read alone. */
const MOST_SEALED_CHARS = 4096;

/** The columns of `SealColumns`, for a statement that selects from `inbox`. */
export const SEAL_COLUMNS = `CASE WHEN length(content) <= ${MOST_SEALED_CHARS} THEN ${COVERED} END AS whole, sum`;

const isIntact = ({ whole, sum }: SealedRow): boolean => sum === null || sum === crc32(whole);

/** False: the message has changed since it was stored. Null: the row does not tell. */
export function checkSeal({ whole, sum }: SealColumns): boolean | null {
  return whole === null ? null : isIntact({ whole, sum });
}

/** Expects that the tables of this room exist already. */
export function openSeals(db: Database): Seals {
  // As one text, because passing ten columns costs more than everything else.
  const read = db.prepare<SealedRow>(`SELECT ${COVERED} AS whole, sum FROM inbox WHERE seq = ?`);
  const write = db.prepare('UPDATE inbox SET sum = ? WHERE seq = ?');
  return {
    seal(id) {
      const row = read.get(id);
      if (row !== undefined) write.run(crc32(row.whole), id);
    },
    isWhole(id) {
      const row = read.get(id);
      return row === undefined || isIntact(row);
    },
  };
}

const SEALED_AT_ONCE = 500;

/** Stores the checksum of each message of an earlier version, once. @throws Fault `database` */
export function sealAll(db: Database): void {
  const done = db.prepare("SELECT 1 FROM schema_versions WHERE owner = 'inbox-sums'");
  if (done.get() !== undefined) return;
  const next = db.prepare<{ seq: number }>(
    `SELECT seq FROM inbox WHERE sum IS NULL AND seq > ? ORDER BY seq LIMIT ${SEALED_AT_ONCE}`,
  );
  const { seal } = openSeals(db);
  for (let above = 0, hasMore = true; hasMore; ) {
    const rows = next.all(above);
    runLaterTransaction(db, () => {
      for (const { seq } of rows) seal(seq);
    });
    above = rows.at(-1)?.seq ?? above;
    hasMore = rows.length === SEALED_AT_ONCE;
  }
  db.exec("INSERT OR IGNORE INTO schema_versions (owner, version) VALUES ('inbox-sums', 1)");
}
