import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import { openSessionStore } from '../open/index.ts';
import { findThread } from './codex-env.ts';
import { DATABASE } from './open-local-hive.ts';

/**
 * Returns the persona whose agent works in this session, according to its newest announcement, by its name in the local hive.
 * Null: unknown.
 */
export function findPersonaOfSession(db: Database, session: string, config: string): string | null {
  const announced = openSessionStore(db)
    .listAll()
    .filter(({ id }) => id === session)
    .toSorted((a, b) => b.announcedAt - a.announcedAt);
  const [newest] = announced;
  return newest === undefined ? null : locateInbox(newest.persona, config).name;
}

/** Returns the persona that this process works for, as the process that started it set it. */
export function getProcessPersona({ HIVEBAR_PERSONA }: Io['env']): string | null {
  return HIVEBAR_PERSONA === undefined || HIVEBAR_PERSONA === '' ? null : HIVEBAR_PERSONA;
}

/** Returns the persona that this command works for: the one in the environment, else the one announced for its Codex thread. */
export function findOwnPersona({ env }: Pick<Io, 'env'>): string | null {
  const thread = findThread(env);
  const processPersona = getProcessPersona(env);
  if (processPersona !== null || thread === null) return processPersona;
  const { state, config } = findOwnDirs({ ...env });
  using db = openStore(join(state, DATABASE));
  return findPersonaOfSession(db, thread, config);
}
