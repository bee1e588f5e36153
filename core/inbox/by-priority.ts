import type { Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import { INBOX_SCHEMA } from './schema.ts';
import { MOST_COUNTED, type PriorityTally, sumByPriority, tally } from './tally.ts';

/** `?1` is the persona, `?2` is now. */
const WAITS = 'persona = ?1 AND read_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)';
const OWN = `FROM inbox INDEXED BY inbox_pending WHERE ${WAITS} AND origin IS NULL`;
const TO_ALL = `FROM broadcast_acks INDEXED BY broadcast_acks_pending WHERE ${WAITS}`;

/**
 * How many unread items that ask for a person a persona has of each priority, 0 first, up to `MOST_COUNTED` (not what Hivebar
 * itself says to the agent): for any session, for one alone, and those
 * that somebody holds a lease of. What has expired is not among them. Costs the same however much waits.
 *
 * @throws Fault `database`, now and when it is asked
 */
export function createUnreadCounter(db: Database): (persona: string, now: Instant) => ReturnType<typeof sumByPriority> {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const rows = db.prepare<PriorityTally>(`
    ${tally(`${OWN} AND session IS NULL`, 'inbox.priority')}
    UNION ALL ${tally(TO_ALL, 'broadcast_acks.priority')}
    UNION ALL SELECT priority, count(*) FROM (SELECT priority ${OWN} AND session > '' LIMIT ${MOST_COUNTED}) GROUP BY priority`);
  return (persona, now) => sumByPriority(rows.all(persona, Math.floor(now)));
}
