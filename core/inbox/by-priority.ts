import type { Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import { INBOX_SCHEMA } from './schema.ts';

/** So many of one priority are counted; it stands for as many or more. */
export const MOST_COUNTED = 1000;

/**
 * How many unread items a persona has of each priority, 0 first: for any session, for one alone, and those that somebody
 * holds a lease of. What has expired is not among them. Costs the same however much waits.
 *
 * @throws Fault `database`, now and when it is asked
 */
export function unreadByPriority(
  db: Database,
): (persona: string, now: Instant) => readonly [number, number, number, number, number] {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const rows = db.prepare<{ priority: number; n: number }>(`
    ${[0, 1, 2, 3, 4].map(forAnySession).join(' UNION ALL ')}
    UNION ALL SELECT priority, count(*) FROM (SELECT priority FROM inbox INDEXED BY inbox_pending
      WHERE persona = ?1 AND session > '' AND ${WAITS} LIMIT ${MOST_COUNTED}) GROUP BY priority`);
  return (persona, now) => {
    const counts: [number, number, number, number, number] = [0, 0, 0, 0, 0];
    for (const { priority, n } of rows.all(persona, Math.floor(now))) {
      const before = counts[priority];
      if (before !== undefined) counts[priority] = Math.min(MOST_COUNTED, before + n);
    }
    return counts;
  };
}

/** `?1` is the persona, `?2` is now. */
const WAITS = 'read_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)';

/** The direct ones and the broadcasts of one priority. */
function forAnySession(priority: number): string {
  const some = (table: string, more: string): string => `SELECT ${priority} AS priority, count(*) AS n FROM (
    SELECT 1 FROM ${table} WHERE persona = ?1 ${more} AND priority = ${priority} AND ${WAITS} LIMIT ${MOST_COUNTED})`;
  const own = some('inbox INDEXED BY inbox_pending', 'AND session IS NULL');
  return `${own} UNION ALL ${some('broadcast_acks INDEXED BY broadcast_acks_pending', '')}`;
}
