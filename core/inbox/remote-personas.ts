import type { Instant } from '../model/index.ts';
import { type Database, runLaterTransaction } from '../state/index.ts';

/** Which personas live on another machine and not here. Mail to them counts as sent mail (see docs/decisions/0042). */
export interface RemotePersonas {
  has(name: string): boolean;
  /** Replaces the set. Returns the personas whose inbox here appeared or disappeared by it. @throws Fault `database` */
  set(names: ReadonlySet<string>): readonly string[];
  /** Personas whose agent was shown its inbox here since then. */
  drainedSince(since: Instant): readonly string[];
}

/** Expects that the tables of this room exist already. */
export function openRemotePersonas(db: Database): RemotePersonas {
  const selectNames = db.prepare<{ name: string }>('SELECT name FROM personas_elsewhere');
  const add = db.prepare('INSERT OR IGNORE INTO personas_elsewhere (name) VALUES (?)');
  const remove = db.prepare('DELETE FROM personas_elsewhere WHERE name = ?');
  const updatePersona = db.prepare(`
    UPDATE personas SET elsewhere = ?2, rev = (SELECT max(rev) + 1 FROM personas) WHERE name = ?1 AND elsewhere <> ?2`);
  const drained = db.prepare<{ name: string }>('SELECT name FROM personas WHERE drained_at >= ? ORDER BY name');
  let away = new Set(selectNames.all().map(({ name }) => name));
  return {
    has: (name) => away.has(name),
    set(names) {
      const left = [...names].filter((name) => !away.has(name));
      const back = [...away].filter((name) => !names.has(name));
      if (left.length + back.length === 0) return [];
      const changed = runLaterTransaction(db, () => {
        for (const name of left) add.run(name);
        for (const name of back) remove.run(name);
        return [
          ...left.filter((name) => updatePersona.run(name, 1).changes > 0),
          ...back.filter((name) => updatePersona.run(name, 0).changes > 0),
        ];
      });
      away = new Set(names);
      return changed;
    },
    drainedSince: (since) => drained.all(Math.floor(since)).map(({ name }) => name),
  };
}
