import { join } from 'node:path';
import { type Io, toUsageFault } from '../../core/command/index.ts';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import { openSessionStore, type Session } from '../open/index.ts';
import { identifyCaller } from './caller-identity.ts';
import { findThread } from './codex-env.ts';
import { DATABASE } from './open-local-hive.ts';
import { findRunnerLife, getSurroundings } from './session-surroundings.node.ts';

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

/**
 * Resolves the persona that a command acts for: the flag (`--as`), else the environment, else the stored sessions. Of the
 * sessions that are not over, those of the current folder count, or of the nearest folder above.
 *
 * @throws Fault `usage` when nobody or more than one persona works there
 */
export function resolveActingPersona(io: Io, db: Database, personaFlag: string | undefined): string {
  const { cwd } = getSurroundings();
  if (personaFlag === '') throw toUsageFault(new Error('--as is empty: give the name of a persona'));
  const { config } = findOwnDirs({ ...io.env });
  const resolveName = (alias: string): string => locateInbox(alias, config).name;
  const { persona } = identifyCaller({ persona: personaFlag, session: undefined, env: io.env, cwd, resolveName }, () =>
    listLiveSessions(db),
  );
  if (persona !== null) return persona;
  throw toUsageFault(
    new Error(`no single persona is known to work in ${cwd}: give --as PERSONA, or set HIVEBAR_PERSONA`),
  );
}

function listLiveSessions(db: Database): readonly Session[] {
  return openSessionStore(db)
    .listAll()
    .filter(({ endedAt, runner }) => endedAt === null && findRunnerLife(runner) !== 'gone')
    .toSorted((a, b) => b.announcedAt - a.announcedAt);
}
