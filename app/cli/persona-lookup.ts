import { join } from 'node:path';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import { openSessionStore } from '../open/index.ts';
import { findThread } from './codex-env.ts';
import type { Io } from './command.ts';
import { DATABASE } from './open-local-hive.ts';

/**
 * Whose agent works in this session, as the last announcement of it said, by its name in the local hive; null when it is not
 * known.
 */
export function findPersonaOfSession(db: Database, session: string, config: string): string | null {
  const announced = openSessionStore(db)
    .listAll()
    .filter(({ id }) => id === session)
    .toSorted((a, b) => b.announcedAt - a.announcedAt);
  const [newest] = announced;
  return newest === undefined ? null : locateInbox(newest.persona, config).name;
}

/** The persona that this process works for, as whoever started it said. */
export function getProcessPersona({ HIVEBAR_PERSONA }: Io['env']): string | null {
  return HIVEBAR_PERSONA === undefined || HIVEBAR_PERSONA === '' ? null : HIVEBAR_PERSONA;
}

/** The persona that this command works for: as its environment says, else as the thread of Codex was announced that runs it. */
export function findOwnPersona({ env }: Pick<Io, 'env'>): string | null {
  const thread = findThread(env);
  const processPersona = getProcessPersona(env);
  if (processPersona !== null || thread === null) return processPersona;
  const { state, config } = findOwnDirs({ ...env });
  using db = openStore(join(state, DATABASE));
  return findPersonaOfSession(db, thread, config);
}
