import type { Database } from '../state/index.ts';
import type { AwaitedSession, ItemFilter, ItemOrigin, ItemType, Priority } from './item.ts';
import { type PriorityTally, tally } from './query.ts';

/** A pushed item as stored in the table; instants in milliseconds. */
export interface PushedRow {
  readonly id: number;
  readonly type: ItemType;
  readonly from_: string;
  readonly content: string;
  readonly priority: Priority;
  readonly session: string | null;
  readonly created: number;
  readonly expires_at: number | null;
  readonly dedup_key: string;
  readonly origin: ItemOrigin | null;
}

export function toPushedFields(row: PushedRow) {
  return {
    type: row.type,
    source: row.from_,
    content: row.content,
    priority: row.priority,
    session: row.session,
    created: row.created,
    expires: row.expires_at,
    dedupKey: row.dedup_key,
    origin: row.origin,
  };
}

/** An existing item with the same key. */
interface KeyRow {
  readonly id: number;
  readonly persona: string;
  readonly origin: ItemOrigin | null;
  readonly content: string;
  /** The item expired and was never shown (a broadcast: it expired), so it does not block a new item. */
  readonly is_over: number | null;
}

/** An item as stored in the tables, for one persona. */
export interface ItemRow extends PushedRow {
  readonly broadcast: number;
  readonly read_at: number | null;
  readonly delivered_at: number | null;
}

/** The table that holds the state: `i`, the row of the inbox, or `a`, the acknowledgement of a broadcast. */
type StateAlias = 'i' | 'a';

const columns = (
  stateAlias: StateAlias | null,
) => `${stateAlias ?? 'i'}.seq AS id, i.type, i.from_, i.content, i.priority, i.session, i.created,
  i.expires_at, i.dedup_key, i.origin, i.persona = '' AS broadcast,
  ${stateAlias === null ? 'NULL AS read_at, NULL AS delivered_at' : `${stateAlias}.read_at, ${stateAlias}.delivered_at`}`;

/** In all of these, `?1` is the persona and `?2` is now. */
const pending = (stateAlias: StateAlias) => `${stateAlias}.read_at IS NULL
  AND (${stateAlias}.expires_at IS NULL OR ${stateAlias}.expires_at > ?2)
  AND (${stateAlias}.leased_until IS NULL OR ${stateAlias}.leased_until <= ?2)`;

/** A persona that does not exist yet has every broadcast that has not expired. */
const OF_NOBODY_YET = `FROM inbox AS i WHERE i.persona = '' AND (i.expires_at IS NULL OR i.expires_at > ?2)
  AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)`;

const BROADCASTS = 'FROM broadcast_acks AS a CROSS JOIN inbox AS i ON i.seq = a.seq';

const LISTED: Readonly<Record<ItemFilter, (stateAlias: StateAlias) => string>> = {
  pending,
  delivered: (stateAlias) => `${stateAlias}.delivered_at IS NOT NULL`,
  all: () => 'true',
};

/** Prepares all statements of the items. */
export function prepareItemStatements(db: Database) {
  const list = (which: ItemFilter) =>
    db.prepare<ItemRow>(`
      SELECT ${columns('i')} FROM inbox AS i WHERE i.persona = ?1 AND ${LISTED[which]('i')}
      UNION ALL
      SELECT ${columns('a')} ${BROADCASTS} WHERE a.persona = ?1 AND ${LISTED[which]('a')}
      UNION ALL
      SELECT ${columns(null)} ${OF_NOBODY_YET} AND ${which !== 'delivered'}
      ORDER BY id DESC LIMIT ?3`);
  /** The persona's own items for one session, or for any session (null). */
  const own = (session: string) =>
    `FROM inbox AS i INDEXED BY inbox_pending WHERE i.persona = ?1 AND i.session IS ${session} AND ${pending('i')}`;
  const toAll = `FROM broadcast_acks AS a INDEXED BY broadcast_acks_pending WHERE a.persona = ?1 AND ${pending('a')}`;
  /** `?1` is the persona, `?2` the id. One statement for the inbox, one for the acknowledgements. */
  const marking = (change: string, where: string) => {
    const sql = (table: string) => `UPDATE ${table} SET ${change} WHERE persona = ?1 AND seq = ?2 AND ${where}`;
    return { own: db.prepare(sql('inbox')), toAll: db.prepare(sql('broadcast_acks')) };
  };
  return {
    /** Items that may have the key already: the persona's own item first, then a broadcast. `?3` is now. */
    byKey: db.prepare<KeyRow>(`
      SELECT seq AS id, persona, origin, content, expires_at <= ?3 AND (persona = '' OR (read_at IS NULL
        AND delivered_at IS NULL AND (leased_until IS NULL OR leased_until <= ?3))) AS is_over
      FROM inbox WHERE persona IN (?1, '') AND dedup_key = ?2 ORDER BY persona DESC`),
    /** Frees a key; the item stays until it is reaped. */
    freeKey: db.prepare("UPDATE inbox SET dedup_key = 'expired:' || seq || ':' || dedup_key WHERE seq = ?"),
    selectAcks: db.prepare<{ persona: string }>('SELECT persona FROM broadcast_acks WHERE seq = ? AND read_at IS NULL'),
    readAck: db.prepare('UPDATE broadcast_acks SET read_at = ? WHERE seq = ? AND persona = ?'),
    appear: db.prepare(`
      INSERT INTO personas (name, created, last_id, rev, unread, urgent)
      VALUES (?, ?, 0, (SELECT coalesce(max(rev), 0) + 1 FROM personas), 0, 0) ON CONFLICT (name) DO NOTHING`),
    insert: db.prepare<{ id: number; dedup_key: string }>(`
      INSERT INTO inbox (persona, type, from_, priority, urgent, session, created, expires_at, read_at, dedup_key, content,
        origin)
      VALUES (?1, ?2, ?3, ?4, ?4 <= 1, ?5, ?6, ?7, ?8, coalesce(?9, ${formatNewKeySql('?2', '?6')}), ?10, ?11)
      RETURNING seq AS id, dedup_key`),

    list: { pending: list('pending'), delivered: list('delivered'), all: list('all') },
    byId: db.prepare<ItemRow>(`
      SELECT ${columns('i')} FROM inbox AS i WHERE i.persona = ?1 AND i.seq = ?2
      UNION ALL SELECT ${columns('a')} ${BROADCASTS} WHERE a.persona = ?1 AND a.seq = ?2`),
    tally: db.prepare<PriorityTally>(tally(own('?3'), 'i.priority')),
    tallyToAll: db.prepare<PriorityTally>(tally(toAll, 'a.priority')),
    tallyOfNobodyYet: db.prepare<PriorityTally>(
      `SELECT i.priority, count(*) AS n ${OF_NOBODY_YET} GROUP BY i.priority`,
    ),

    anyForNobodyYet: db.prepare<{ any: number }>(`SELECT EXISTS (SELECT 1 ${OF_NOBODY_YET}) AS "any"`),
    next: db.prepare<ItemRow>(`
      SELECT ${columns('i')} ${own('?3')} AND i.priority BETWEEN ?4 AND ?5
      ORDER BY i.priority, i.created, i.seq LIMIT ?6`),
    nextToAll: db.prepare<ItemRow>(`
      SELECT ${columns('a')} ${BROADCASTS} WHERE a.persona = ?1 AND ${pending('a')} AND a.priority BETWEEN ?3 AND ?4
      ORDER BY a.priority, a.created, a.seq LIMIT ?5`),
    awaited: db.prepare<AwaitedSession>(`
      SELECT persona, session, min(created) AS since FROM inbox INDEXED BY inbox_for_session
      WHERE session IS NOT NULL AND read_at IS NULL GROUP BY persona, session`),
    waitingFor: db.prepare<{ id: number }>(
      'SELECT seq AS id FROM inbox WHERE persona = ? AND session = ? AND read_at IS NULL',
    ),
    forAnySession: db.prepare('UPDATE inbox SET session = NULL WHERE seq = ?'),
    touch: db.prepare('UPDATE personas SET rev = (SELECT max(rev) + 1 FROM personas) WHERE name = ?'),
    drainedAt: db.prepare<{ drained_at: number | null }>('SELECT drained_at FROM personas WHERE name = ?'),
    noteDrain: db.prepare('UPDATE personas SET drained_at = ? WHERE name = ?'),
    left: db.prepare<{ n: number }>(`SELECT count(*) AS n FROM (SELECT 1 ${own('?3')} LIMIT ?4)`),
    leftToAll: db.prepare<{ n: number }>(`SELECT count(*) AS n FROM (SELECT 1 ${toAll} LIMIT ?3)`),

    newLease: db.prepare<{ id: string }>('SELECT lower(hex(randomblob(16))) AS id'),
    claim: marking('lease = ?3, leased_until = ?4', 'true'),
    deliver: marking(
      'read_at = coalesce(read_at, ?3), delivered_at = ?3, lease = NULL, leased_until = NULL',
      'delivered_at IS NULL',
    ),
    free: marking('lease = NULL, leased_until = NULL', 'lease = ?3'),
  };
}

/** SQL for the key of an item that was pushed without one. The key begins with its time, so that new keys are stored together. */
function formatNewKeySql(type: string, created: string): string {
  return `printf('%s:%x:%s', ${type}, ${created}, lower(hex(randomblob(8))))`;
}

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
      INSERT INTO inbox (persona, from_, priority, urgent, created, read_at, dedup_key, content, seq, sum)
      VALUES (?1, ?2, iif(?3, 1, 2), ?3, ?4, ?5, ${formatNewKeySql("'mail'", '?4')}, ?6, ?7, ?8)`),
    /** The id that the next message would get. */
    nextId: db.prepare<{ id: number }>(`
      SELECT 1 + max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'inbox'), 0),
        coalesce((SELECT max(seq) FROM inbox), 0)) AS id`),
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
    mark: db.prepare<{ urgent: number; priority: Priority; read_at: number | null }>(`
      SELECT urgent, priority, read_at FROM inbox WHERE persona = ?1 AND seq = ?2
      UNION ALL SELECT i.urgent, i.priority, a.read_at ${acks} = ?1 AND a.seq = ?2`),
    above: db.prepare<HeadRow>(`SELECT ${HEAD} FROM inbox WHERE persona = ? AND seq > ? ORDER BY seq`),
    aboveToAll: db.prepare<HeadRow>(`SELECT ${head('i', 'a')} ${acks} = ? AND a.seq > ? ORDER BY a.seq`),
    lastId: db.prepare<{ last_id: number }>('SELECT last_id FROM personas WHERE name = ?'),
    heads: db.prepare<HeadRow>(`
      SELECT ${HEAD} FROM inbox WHERE persona = ?2 UNION ALL SELECT ${head('i', 'a')} ${acks} = ?2
      ORDER BY id DESC LIMIT ?3`),
    unreadIds: db.prepare<{ id: number; origin: ItemOrigin | null }>(`
      SELECT seq AS id, origin FROM inbox INDEXED BY inbox_pending WHERE persona = ?1 AND read_at IS NULL
      UNION ALL SELECT seq, NULL FROM broadcast_acks INDEXED BY broadcast_acks_pending WHERE persona = ?1 AND read_at IS NULL`),
    markOne: db.prepare('UPDATE inbox SET read_at = ? WHERE persona = ? AND seq = ? AND read_at IS NULL'),
    markOneToAll: db.prepare('UPDATE broadcast_acks SET read_at = ? WHERE persona = ? AND seq = ? AND read_at IS NULL'),
  };
}
