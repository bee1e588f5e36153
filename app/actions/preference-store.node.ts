import type { Board, Until } from '../../core/board/index.ts';
import type { Instant, PersonaId } from '../../core/model/index.ts';
import { type Database, migrate } from '../../core/state/index.ts';

const STEPS = [
  `CREATE TABLE mutes (
     persona TEXT PRIMARY KEY, -- '' for all of them: "Pause notifications"
     until REAL                -- null: for ever
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE hidden (persona TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
   CREATE TABLE switches (name TEXT PRIMARY KEY, is_on INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
] as const;

/** Stores what a person decides with a click, in the tray's database. A click on "mute" is state, not a setting. */
export interface PreferenceStore {
  /** Who is muted until when. A null `persona` means that everything is paused. */
  mutes(): readonly { readonly persona: PersonaId | null; readonly until: Until }[];
  setMute(persona: PersonaId | null, until: Until): void;
  hidden(): readonly PersonaId[];
  setHidden(persona: PersonaId, hidden: boolean): void;
  /** Whether quiet hours are on. Returns `otherwise` if nobody switched them yet. */
  quietHours(otherwise: boolean): boolean;
  /** Null forgets what a person chose. */
  setQuietHours(on: boolean | null): void;
}

const QUIET_HOURS = 'quiet-hours';

/** Opens the store. @throws Fault `database`; so does each of its methods. */
export function openPreferenceStore(db: Database): PreferenceStore {
  migrate(db, 'mutes', STEPS);
  const mutes = db.prepare<{ persona: string; until: number | null }>('SELECT persona, until FROM mutes');
  const mute = db.prepare(
    'INSERT INTO mutes (persona, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
  );
  const unmute = db.prepare('DELETE FROM mutes WHERE persona = ?');
  const hidden = db.prepare<{ persona: string }>('SELECT persona FROM hidden');
  const hide = db.prepare('INSERT INTO hidden (persona) VALUES (?) ON CONFLICT DO NOTHING');
  const unhide = db.prepare('DELETE FROM hidden WHERE persona = ?');
  const forget = db.prepare('DELETE FROM switches WHERE name = ?');
  const isOn = db.prepare<{ is_on: number }>('SELECT is_on FROM switches WHERE name = ?');
  const turn = db.prepare(
    'INSERT INTO switches (name, is_on) VALUES (?, ?) ON CONFLICT DO UPDATE SET is_on = excluded.is_on',
  );
  return {
    mutes: () =>
      mutes.all().map(({ persona, until }) => ({
        persona: persona === '' ? null : persona,
        until: until === null ? { is: 'forever' } : { is: 'at', at: until },
      })),
    setMute(persona, until) {
      const key = persona ?? '';
      if (until.is === 'never') unmute.run(key);
      else mute.run(key, until.is === 'at' ? until.at : null);
    },
    hidden: () => hidden.all().map(({ persona }) => persona),
    setHidden: (persona, isHidden) => void (isHidden ? hide : unhide).run(persona),
    quietHours(otherwise) {
      const row = isOn.get(QUIET_HOURS);
      return row === undefined ? otherwise : row.is_on === 1;
    },
    setQuietHours: (on) => void (on === null ? forget.run(QUIET_HOURS) : turn.run(QUIET_HOURS, on ? 1 : 0)),
  };
}

/** Puts what is muted and hidden on the board. */
export function reportPreferences(preferences: PreferenceStore, board: Pick<Board, 'put'>, at: Instant): void {
  for (const { persona, until } of preferences.mutes()) board.put({ is: 'muted', at, persona, until });
  for (const persona of preferences.hidden()) board.put({ is: 'hidden', at, persona, hidden: true });
}
