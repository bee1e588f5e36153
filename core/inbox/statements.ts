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

/** A row with the first bytes of its text only, or none of it. */
export type HeadRow = Omit<StoredRow, 'content' | 'urgent'> & { readonly head: Uint8Array | null };

/** The columns of a `HeadRow`. By bytes: SQLite's functions on text stop at a NUL, which a message may contain. */
export const HEAD = 'seq AS id, from_, created, read_at, substr(CAST(content AS BLOB), 1, ?) AS head';

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
