import type { Instant } from '../model/index.ts';
import { type Database, migrate } from '../state/index.ts';
import { INBOX_SCHEMA } from './schema.ts';

/** Whether anything waits for a persona, and whether any of it is of priority 0 or 1. */
export type UndeliveredLevel = 'none' | 'ordinary' | 'urgent';

/**
 * Creates a function that says what waits for any session of a persona. It includes more than pending items: leased items too,
 * whose lease may be released, and items for one session alone. The cost does not depend on how much waits.
 *
 * @throws Fault `database`, now and at each call
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

/** `?1` is the persona, `?2` is now. A persona that does not exist yet has every broadcast that has not expired. */
const exists = (condition: string): string => `(
  EXISTS (SELECT 1 FROM inbox INDEXED BY inbox_pending
    WHERE persona = ?1 AND read_at IS NULL AND ${WAITS} ${condition})
  OR EXISTS (SELECT 1 FROM broadcast_acks INDEXED BY broadcast_acks_pending
    WHERE persona = ?1 AND read_at IS NULL AND ${WAITS} ${condition})
  OR EXISTS (SELECT 1 FROM inbox WHERE persona = '' AND ${WAITS} ${condition}
    AND NOT EXISTS (SELECT 1 FROM personas WHERE name = ?1)))`;
