import type { Database } from '../../core/state/index.ts';
import { inboxesOf } from '../hook/index.ts';
import { keptSessions } from '../open/index.ts';
import type { Io } from './command.ts';

/**
 * Whose agent works in this session, as the last announcement of it said, by its name in the local hive; null when it is not
 * known.
 */
export function personaOfSession(db: Database, session: string, config: string): string | null {
  const announced = keptSessions(db)
    .all()
    .filter(({ id }) => id === session)
    .toSorted((a, b) => b.announcedAt - a.announcedAt);
  const [newest] = announced;
  return newest === undefined ? null : inboxesOf(newest.persona, config).name;
}

/** The persona that this process works for, as whoever started it said. */
export function personaOfProcess({ HIVEBAR_PERSONA }: Io['env']): string | null {
  return HIVEBAR_PERSONA === undefined || HIVEBAR_PERSONA === '' ? null : HIVEBAR_PERSONA;
}
