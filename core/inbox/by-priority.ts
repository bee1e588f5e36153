import type { Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import { INBOX_SCHEMA } from './schema.ts';
import { MOST_COUNTED, type PriorityTally, sumByPriority, tally } from './tally.ts';

/** `?1` is the persona, `?2` is now. */
const WAITS = 'persona = ?1 AND read_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)';
const OWN = `FROM inbox INDEXED BY inbox_pending WHERE ${WAITS} AND origin IS NULL`;
const TO_ALL = `FROM broadcast_acks INDEXED BY broadcast_acks_pending WHERE ${WAITS}`;

/**
 * Creates a function that counts the unread items of a persona by priority, 0 first, each count up to `MOST_COUNTED`. It counts
 * items for any session, items for one session, and leased items. It does not count expired items, nor what Hivebar itself says
 * to the agent. The cost does not depend on how many items wait.
 *
 * @throws Fault `database`, now and at each call
 */
export function createUnreadCounter(db: Database): (persona: string, now: Instant) => ReturnType<typeof sumByPriority> {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const rows = db.prepare<PriorityTally>(`
    ${tally(`${OWN} AND session IS NULL`, 'inbox.priority')}
    UNION ALL ${tally(TO_ALL, 'broadcast_acks.priority')}
    UNION ALL SELECT priority, count(*) FROM (SELECT priority ${OWN} AND session > '' LIMIT ${MOST_COUNTED}) GROUP BY priority`);
  return (persona, now) => sumByPriority(rows.all(persona, Math.floor(now)));
}
