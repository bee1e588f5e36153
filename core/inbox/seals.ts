import { crc32, type Database, runLaterTransaction } from '../state/index.ts';

/**
 * A checksum per message, so that text which the disk or a stray write changed is not served as what somebody sent. It covers the
 * message, not who read it. A row of an earlier version has no checksum until `sealAll`.
 */
export interface Seals {
  /** Stores the checksum. Call it in the transaction that stored the message. */
  seal(id: number): void;
  /** False: the message has changed since it was stored. */
  isWhole(id: number): boolean;
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
      return row === undefined || row.sum === null || row.sum === crc32(row.whole);
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
