import type { Clock } from '../../ports/index.ts';
import { type Database, migrate } from '../../state/index.ts';
import { DECISIONS_SCHEMA } from './schema.ts';

/**
 * What a persona asked and nobody has answered, oldest first; without what is over and not closed yet. For who only looks.
 * @throws Fault `database`, now and when it is asked
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
