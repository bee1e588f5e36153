import { join } from 'node:path';
import { type Database, openStore, ownDirs } from '../../core/state/index.ts';
import { inboxesOf } from '../hook/index.ts';
import { keptSessions } from '../open/index.ts';
import { findThread } from './codex-env.ts';
import type { Io } from './command.ts';
import { DATABASE } from './with-hive.ts';

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

/** The persona that this command works for: as its environment says, else as the thread of Codex was announced that runs it. */
export function findOwnPersona({ env }: Pick<Io, 'env'>): string | null {
  const thread = findThread(env);
  const said = personaOfProcess(env);
  if (said !== null || thread === null) return said;
  const { state, config } = ownDirs({ ...env });
  using db = openStore(join(state, DATABASE));
  return personaOfSession(db, thread, config);
}
