import type { Database } from '../../state/index.ts';

/** The most pending signals that are counted, which bounds the cost of a peek. */
export const MOST_SIGNALS = 10_000;
/** How many ids of the next drain are remembered, for an address with listeners. */
const FRONT = 32;
/** How many of the newest messages of an address are searched for one that was read. */
const RECENT = 1000;

const WAITS = (stateAlias: 'i' | 'a') =>
  `${stateAlias}.read_at IS NULL AND (${stateAlias}.expires_at IS NULL OR ${stateAlias}.expires_at > ?2)`;

/**
 * Items for any session, including leased ones, because a lease may lapse. Items for one session alone belong to its own hook.
 */
const OWN = `FROM inbox AS i INDEXED BY inbox_pending WHERE i.persona = ?1 AND i.session IS NULL AND ${WAITS('i')}`;
const TO_ALL = `FROM broadcast_acks AS a INDEXED BY broadcast_acks_pending WHERE a.persona = ?1 AND ${WAITS('a')}`;
/** A persona that does not exist yet has every broadcast that has not expired. */
const OF_NOBODY_YET = `FROM inbox AS i WHERE i.persona = '' AND (i.expires_at IS NULL OR i.expires_at > ?2)
  AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)`;

/** The oldest item of each priority is first in its index, and the oldest of all is among them. */
const oldest = (stateAlias: 'i' | 'a', from: string) => `
  (SELECT min((SELECT ${stateAlias}.created ${from} AND ${stateAlias}.priority = p.column1 ORDER BY ${stateAlias}.created LIMIT 1))
    FROM (VALUES (0), (1), (2), (3), (4)) AS p)`;
const count = (from: string) => `(SELECT count(*) FROM (SELECT 1 ${from} LIMIT ${MOST_SIGNALS}))`;

/** The state of an address, as stored in the tables. */
export interface StandRow {
  readonly rev: number;
  /** Everything unread, for any session, including expired items that are not deleted yet. */
  readonly unread: number;
  readonly last: number;
}

/** Prepares the statements of the signals. `?1` is the address, and in a peek `?2` is now. */
export function prepareSignalStatements(db: Database) {
  const newer = (table: string) => `FROM ${table} WHERE persona = ?1 AND seq > ?2 AND read_at IS NULL`;
  const among = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} WHERE persona = ?1 AND seq IN (SELECT value FROM json_each(?2)) AND read_at IS NOT NULL)`;
  const recently = (table: string) => `EXISTS (SELECT 1 FROM (
    SELECT read_at FROM ${table} WHERE persona = ?1 AND seq <= ?3 ORDER BY seq DESC LIMIT ${RECENT}) WHERE read_at >= ?4)`;
  return {
    appear: db.prepare(`
      INSERT INTO personas (name, created, last_id, rev, unread, urgent)
      VALUES (?, ?, 0, (SELECT coalesce(max(rev), 0) + 1 FROM personas), 0, 0) ON CONFLICT (name) DO NOTHING`),
    /**
     * One statement, so that all values are of the same moment. Otherwise the count after a change could come with the revision
     * before it.
     */
    pending: db.prepare<{ rev: number; count: number; oldest: number | null }>(`
      SELECT coalesce((SELECT rev FROM personas WHERE name = ?1), 0) AS rev,
        min(${MOST_SIGNALS}, ${count(OWN)} + ${count(TO_ALL)} + ${count(OF_NOBODY_YET)}) AS count,
        (SELECT min(column1) FROM (VALUES (${oldest('i', OWN)}), (${oldest('a', TO_ALL)}),
          ((SELECT min(i.created) ${OF_NOBODY_YET})))) AS oldest`),
    stand: db.prepare<StandRow>('SELECT rev, unread, last_id AS last FROM personas WHERE name = ?'),
    /** Unread items that came after an id. */
    came: db.prepare<{ n: number }>(
      `SELECT (SELECT count(*) ${newer('inbox')}) + (SELECT count(*) ${newer('broadcast_acks')}) AS n`,
    ),
    /** The items that a drain takes next. */
    front: db.prepare<{ id: number }>(`
      SELECT seq AS id FROM (
        SELECT i.seq, i.priority, i.created ${OWN} UNION ALL SELECT a.seq, a.priority, a.created ${TO_ALL}
        ORDER BY priority, created, seq LIMIT ${FRONT})`),
    /** Whether one of these ids was read, or one of the newest up to an id since an instant. */
    anyRead: db.prepare<{ any: number }>(`
      SELECT ${among('inbox')} OR ${among('broadcast_acks')} OR ${recently('inbox')} OR ${recently('broadcast_acks')} AS "any"`),
  };
}
