import type { Until } from '../../core/board/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { type Database, migrate } from '../../core/state/index.ts';

const STEPS = [
  `CREATE TABLE mutes (
     persona TEXT PRIMARY KEY, -- '' for all of them: "Pause notifications"
     until REAL                -- null: for ever
   ) STRICT, WITHOUT ROWID`,
] as const;

/** Who is silent until when, in the tray's database: a click on "mute" is state, not a setting. */
export interface Mutes {
  /** `persona` null is the pause of everything. */
  all(): readonly { readonly persona: PersonaId | null; readonly until: Until }[];
  set(persona: PersonaId | null, until: Until): void;
}

/** @throws Fault `database`; so does each of its methods. */
export function keptMutes(db: Database): Mutes {
  migrate(db, 'mutes', STEPS);
  const all = db.prepare<{ persona: string; until: number | null }>('SELECT persona, until FROM mutes');
  const set = db.prepare(
    'INSERT INTO mutes (persona, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
  );
  const clear = db.prepare('DELETE FROM mutes WHERE persona = ?');
  return {
    all: () =>
      all.all().map(({ persona, until }) => ({
        persona: persona === '' ? null : persona,
        until: until === null ? { is: 'forever' } : { is: 'at', at: until },
      })),
    set(persona, until) {
      const key = persona ?? '';
      if (until.is === 'never') clear.run(key);
      else set.run(key, until.is === 'at' ? until.at : null);
    },
  };
}
