import type { Database } from '../state/index.ts';
import type { ItemOrigin } from './item.ts';
import { formatNewKeySql } from './item-statements.ts';

/** A message as stored in the table; instants in milliseconds. */
export interface StoredRow {
  readonly id: number;
  readonly from_: string;
  readonly content: string;
  readonly urgent: number;
  readonly created: number;
  readonly read_at: number | null;
  readonly origin: ItemOrigin | null;
}

/** A message with its whole text if that is short, else with its first bytes. Both are null if no text is wanted. */
export type HeadRow = Omit<StoredRow, 'content' | 'urgent'> & {
  readonly short: string | null;
  readonly head: Uint8Array | null;
};

/**
 * The columns of a `HeadRow`; `?1` is the largest size of a short text, in bytes. Bytes, because SQLite's text functions stop at
 * a NUL, which a message may contain. Short text stays text, because that costs much less than bytes.
 */
const head = (
  row: string,
  stateAlias: string,
): string => `${stateAlias}.seq AS id, ${row}.from_, ${row}.created, ${stateAlias}.read_at, ${row}.origin,
  iif(octet_length(${row}.content) <= ?1, ${row}.content, NULL) AS short,
  iif(octet_length(${row}.content) > ?1, substr(CAST(${row}.content AS BLOB), 1, ?1), NULL) AS head`;

export const HEAD = head('inbox', 'inbox');

/** The text of a `HeadRow`; null if none was wanted. */
export function toHeadText({ short, head }: HeadRow): string | null {
  return short ?? (head === null ? null : Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8'));
}

/** Prepares all statements of the local hive, except those of the counts and the items. */
export function prepareHiveStatements(db: Database) {
  const whole = (row: string, stateAlias: string): string =>
    `${stateAlias}.seq AS id, ${row}.from_, ${row}.content, ${row}.urgent, ${row}.created, ${stateAlias}.read_at, ${row}.origin`;
  const own = whole('inbox', 'inbox');
  const toAll = whole('i', 'a');
  const acks = 'FROM broadcast_acks AS a CROSS JOIN inbox AS i ON i.seq = a.seq WHERE a.persona';
  const newest = `SELECT ${own} FROM inbox WHERE persona = ?1 AND seq < ?2 AND (?3 = 0 OR read_at IS NULL)`;
  return {
    insert: db.prepare(`
      INSERT INTO inbox (persona, from_, priority, urgent, created, read_at, dedup_key, content)
      VALUES (?1, ?2, iif(?3, 1, 2), ?3, ?4, ?5, ${formatNewKeySql("'mail'", '?4')}, ?6)`),
    personas: db.prepare<{ name: string; created: number }>(
      'SELECT name, created FROM personas WHERE elsewhere = 0 ORDER BY name',
    ),
    anyToAll: db.prepare<{ any: number }>('SELECT 1 AS "any" FROM broadcast_acks WHERE persona = ? LIMIT 1'),
    /**
     * A separate statement, because merging two tables is most of the cost of a short answer, and most inboxes have no broadcast.
     */
    newest: db.prepare<StoredRow>(`${newest} ORDER BY seq DESC LIMIT ?4`),
    newestOfBoth: db.prepare<StoredRow>(`
      ${newest} UNION ALL SELECT ${toAll} ${acks} = ?1 AND a.seq < ?2 AND (?3 = 0 OR a.read_at IS NULL)
      ORDER BY id DESC LIMIT ?4`),
    countBefore: db.prepare<{ n: number }>(`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM inbox WHERE persona = ?1 AND seq < ?2 AND (?3 = 0 OR read_at IS NULL)
        UNION ALL SELECT 1 FROM broadcast_acks WHERE persona = ?1 AND seq < ?2 AND (?3 = 0 OR read_at IS NULL)
        LIMIT ?4)`),
    one: db.prepare<StoredRow>(`
      SELECT ${own} FROM inbox WHERE persona = ?1 AND seq = ?2 UNION ALL SELECT ${toAll} ${acks} = ?1 AND a.seq = ?2`),
    above: db.prepare<HeadRow>(`SELECT ${HEAD} FROM inbox WHERE persona = ? AND seq > ? ORDER BY seq`),
    aboveToAll: db.prepare<HeadRow>(`SELECT ${head('i', 'a')} ${acks} = ? AND a.seq > ? ORDER BY a.seq`),
    lastId: db.prepare<{ last_id: number }>('SELECT last_id FROM personas WHERE name = ?'),
    heads: db.prepare<HeadRow>(`
      SELECT ${HEAD} FROM inbox WHERE persona = ?2 UNION ALL SELECT ${head('i', 'a')} ${acks} = ?2
      ORDER BY id DESC LIMIT ?3`),
    unreadIds: db.prepare<{ id: number }>(`
      SELECT seq AS id FROM inbox INDEXED BY inbox_pending WHERE persona = ?1 AND read_at IS NULL
      UNION ALL SELECT seq FROM broadcast_acks INDEXED BY broadcast_acks_pending WHERE persona = ?1 AND read_at IS NULL`),
    markOne: db.prepare('UPDATE inbox SET read_at = ? WHERE persona = ? AND seq = ? AND read_at IS NULL'),
    markOneToAll: db.prepare('UPDATE broadcast_acks SET read_at = ? WHERE persona = ? AND seq = ? AND read_at IS NULL'),
  };
}
