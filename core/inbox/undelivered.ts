import type { Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import { INBOX_SCHEMA } from './schema.ts';

/** Whether anything waits for a persona, and whether any of it is of priority 0 or 1. */
export type UndeliveredLevel = 'none' | 'ordinary' | 'urgent';

/**
 * What waits for any session of a persona. More than is pending at this moment: also what somebody holds a lease of, who may
 * let go of it, and what is for one session alone. Costs the same however much waits.
 *
 * @throws Fault `database`, now and when it is asked
 */
export function createUndeliveredCheck(db: Database): (persona: string, now: Instant) => UndeliveredLevel {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const row = db.prepare<{ urgent: number; any: number }>(`
    SELECT ${exists('AND priority <= 1')} AS urgent, ${exists('')} AS "any"`);
  return (persona, now) => {
    const flags = row.get(persona, Math.floor(now));
    if (flags?.urgent === 1) return 'urgent';
    return flags?.any === 1 ? 'ordinary' : 'none';
  };
}

const WAITS = '(expires_at IS NULL OR expires_at > ?2)';

/** `?1` is the persona, `?2` is now. Who is not known yet has every broadcast that has not expired. */
const exists = (condition: string): string => `(
  EXISTS (SELECT 1 FROM inbox INDEXED BY inbox_pending
    WHERE persona = ?1 AND read_at IS NULL AND ${WAITS} ${condition})
  OR EXISTS (SELECT 1 FROM broadcast_acks INDEXED BY broadcast_acks_pending
    WHERE persona = ?1 AND read_at IS NULL AND ${WAITS} ${condition})
  OR EXISTS (SELECT 1 FROM inbox WHERE persona = '' AND ${WAITS} ${condition}
    AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)))`;
