import type { Database } from '../state/index.ts';

/** A message as the table has it; instants in milliseconds. */
export interface StoredRow {
  readonly id: number;
  readonly from_: string;
  readonly content: string;
  readonly urgent: number;
  readonly created: number;
  readonly read_at: number | null;
}

/** A row with its text when that is short, else the first bytes of it; neither when none of it is wanted. */
export type HeadRow = Omit<StoredRow, 'content' | 'urgent'> & {
  readonly short: string | null;
  readonly head: Uint8Array | null;
};

/**
 * The columns of a `HeadRow`; `?1` is how many bytes are short. In bytes: SQLite's functions on text stop at a NUL, which
 * a message may contain. Text as it is costs much less than bytes.
 */
export const HEAD = `seq AS id, from_, created, read_at, iif(octet_length(content) <= ?1, content, NULL) AS short,
  iif(octet_length(content) > ?1, substr(CAST(content AS BLOB), 1, ?1), NULL) AS head`;

/** What a `HeadRow` has of the text; null when none of it was wanted. */
export function headOf({ short, head }: HeadRow): string | null {
  return short ?? (head === null ? null : Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8'));
}

/** Everything the local hive asks of its tables, beside the counts. */
export function statementsOf(db: Database) {
  const whole = 'seq AS id, from_, content, urgent, created, read_at';
  return {
    insert: db.prepare(
      'INSERT INTO inbox (persona, from_, content, urgent, created, read_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    personas: db.prepare<{ name: string; created: number }>('SELECT name, created FROM personas ORDER BY name'),
    newest: db.prepare<StoredRow>(
      `SELECT ${whole} FROM inbox WHERE persona = ? AND seq < ? AND (? = 0 OR read_at IS NULL) ORDER BY seq DESC LIMIT ?`,
    ),
    countBefore: db.prepare<{ n: number }>(
      'SELECT count(*) AS n FROM (SELECT 1 FROM inbox WHERE persona = ? AND seq < ? AND (? = 0 OR read_at IS NULL) LIMIT ?)',
    ),
    one: db.prepare<StoredRow>(`SELECT ${whole} FROM inbox WHERE persona = ? AND seq = ?`),
    above: db.prepare<HeadRow>(`SELECT ${HEAD} FROM inbox WHERE persona = ? AND seq > ? ORDER BY seq`),
    lastId: db.prepare<{ last_id: number }>('SELECT last_id FROM personas WHERE name = ?'),
    heads: db.prepare<HeadRow>(`SELECT ${HEAD} FROM inbox WHERE persona = ? ORDER BY seq DESC LIMIT ?`),
    unreadIds: db.prepare<{ id: number }>('SELECT seq AS id FROM inbox WHERE persona = ? AND read_at IS NULL'),
    markOne: db.prepare('UPDATE inbox SET read_at = ? WHERE persona = ? AND seq = ? AND read_at IS NULL'),
    old: db.prepare<{ id: number }>('SELECT seq AS id FROM inbox WHERE created < ? ORDER BY seq LIMIT ?'),
    remove: db.prepare('DELETE FROM inbox WHERE seq = ?'),
  };
}
