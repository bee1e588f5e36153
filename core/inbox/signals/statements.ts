import type { Database } from '../../state/index.ts';

/** As many pending ids of an address are compared between two looks; those that a drain takes first are among them. */
export const MOST_COMPARED = 1000;

const WAITS = (marks: 'i' | 'a') =>
  `${marks}.read_at IS NULL AND (${marks}.expires_at IS NULL OR ${marks}.expires_at > ?2)`;

/** Items for any session; those for one alone are its own hook's. Also what somebody holds a lease of: a lease may lapse. */
const OWN = `FROM inbox AS i INDEXED BY inbox_pending WHERE i.persona = ?1 AND i.session IS NULL AND ${WAITS('i')}`;
const TO_ALL = `FROM broadcast_acks AS a INDEXED BY broadcast_acks_pending WHERE a.persona = ?1 AND ${WAITS('a')}`;
/** Who is not known yet has every broadcast that has not expired. */
const OF_NOBODY_YET = `FROM inbox AS i WHERE i.persona = '' AND (i.expires_at IS NULL OR i.expires_at > ?2)
  AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)`;

/** What the signals ask of the tables. `?1` is the address, `?2` is now. */
export function signalStatementsOf(db: Database) {
  const among = '(SELECT value FROM json_each(?2))';
  return {
    rev: db.prepare<{ rev: number }>('SELECT rev FROM personas WHERE name = ?'),
    appear: db.prepare(`
      INSERT INTO personas (name, created, last_id, rev, unread, urgent)
      VALUES (?, ?, 0, (SELECT coalesce(max(rev), 0) + 1 FROM personas), 0, 0) ON CONFLICT (name) DO NOTHING`),
    /** In one statement, and so of one moment: else the count after a change could have the name of the one before it. */
    pending: db.prepare<{ rev: number; count: number; oldest: number | null }>(`
      SELECT coalesce((SELECT rev FROM personas WHERE name = ?1), 0) AS rev, sum(n) AS count, min(oldest) AS oldest FROM (
        SELECT count(*) AS n, min(i.created) AS oldest ${OWN}
        UNION ALL SELECT count(*), min(a.created) ${TO_ALL}
        UNION ALL SELECT count(*), min(i.created) ${OF_NOBODY_YET})`),
    ids: db.prepare<{ id: number }>(`
      SELECT seq AS id FROM (
        SELECT i.seq, i.priority, i.created ${OWN} UNION ALL SELECT a.seq, a.priority, a.created ${TO_ALL}
        ORDER BY priority, created, seq LIMIT ${MOST_COMPARED})`),
    anyRead: db.prepare<{ any: number }>(`
      SELECT EXISTS (SELECT 1 FROM inbox WHERE persona = ?1 AND seq IN ${among} AND read_at IS NOT NULL)
        OR EXISTS (SELECT 1 FROM broadcast_acks WHERE persona = ?1 AND seq IN ${among} AND read_at IS NOT NULL) AS "any"`),
  };
}
