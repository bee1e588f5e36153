import { type Database, migrate, runTransaction } from '../state/index.ts';
import { INBOX_SCHEMA } from './schema.ts';

/**
 * Removes a persona of the local hive with all its mail. Call it only while no tray process runs, because that has the counts in its
 * memory. Broadcasts stay for all others. Its mail in other inboxes stays too.
 */
export function removePersona(db: Database, name: string): void {
  migrate(db, 'inbox', INBOX_SCHEMA);
  const newest = db.prepare<{ rev: number }>('SELECT coalesce(max(rev), 0) AS rev FROM personas');
  runTransaction(db, () => {
    const { rev = 0 } = newest.get() ?? {};
    db.prepare('DELETE FROM broadcast_acks WHERE persona = ?').run(name);
    db.prepare('DELETE FROM inbox WHERE persona = ?').run(name);
    db.prepare('DELETE FROM personas WHERE name = ?').run(name);
    // Numbers of changes never repeat: a reader that has seen the highest one would miss the next change.
    db.prepare('UPDATE personas SET rev = ? WHERE name = (SELECT name FROM personas ORDER BY rev DESC LIMIT 1)').run(
      rev + 2,
    );
  });
}
