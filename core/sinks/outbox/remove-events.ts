import type { PersonaId } from '../../model/index.ts';
import { type Database, migrate, runTransaction } from '../../state/index.ts';
import { OUTBOX_SCHEMA } from './rows.ts';

/**
 * Removes the events and the saved state of a persona. Call it only while nobody has the outbox open, and after its journal was taken
 * into the tables. Its event files are for the caller.
 */
export function removeEvents(db: Database, persona: PersonaId): void {
  migrate(db, 'outbox', OUTBOX_SCHEMA);
  const last = db.prepare<{ seq: number; persona: string }>(
    'SELECT seq, persona FROM outbox ORDER BY seq DESC LIMIT 1',
  );
  runTransaction(db, () => {
    const before = last.get();
    for (const table of ['outbox', 'watches', 'known'])
      db.prepare(`DELETE FROM ${table} WHERE persona = ?`).run(persona);
    const after = last.get();
    if (before === undefined || after === undefined || before.seq === after.seq) return;
    // Numbers never repeat. So the newest event that is left gets the number of the newest that was removed; whoever reads by number
    // is given it once more, with the same event_id.
    db.prepare('UPDATE watches SET published = ?1 WHERE persona = ?2 AND published = ?3').run(
      before.seq,
      after.persona,
      after.seq,
    );
    db.prepare('UPDATE outbox SET seq = ?1, sum = NULL WHERE seq = ?2').run(before.seq, after.seq);
  });
}
