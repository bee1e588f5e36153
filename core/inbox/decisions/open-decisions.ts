import type { Clock } from '../../ports/index.ts';
import { type Database, migrate } from '../../state/index.ts';
import { DECISIONS_SCHEMA } from './schema.ts';

/**
 * Creates a read-only lookup of the unanswered decisions of a persona, oldest first, without those that have expired.
 * @throws Fault `database`, now and at each call
 */
export function createOpenDecisionLookup(
  db: Database,
  clock: Pick<Clock, 'now'>,
): (persona: string) => readonly { readonly id: number; readonly prompt: string }[] {
  migrate(db, 'decisions', DECISIONS_SCHEMA);
  const rows = db.prepare<{ id: number; prompt: string }>(
    `SELECT id, prompt FROM decisions
     WHERE state = 'open' AND persona = ?1 AND (expires IS NULL OR expires > ?2) ORDER BY id`,
  );
  return (persona) => rows.all(persona, Math.floor(clock.now()));
}
