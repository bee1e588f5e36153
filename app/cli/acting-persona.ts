import { type Io, toUsageFault } from '../../core/command/index.ts';
import { type Database, findOwnDirs } from '../../core/state/index.ts';
import { locateInbox } from '../hook/index.ts';
import { openSessionStore, type Session } from '../open/index.ts';
import { identifyCaller } from './caller-identity.ts';
import { findRunnerLife, getSurroundings } from './session-surroundings.node.ts';

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
