import { type Database, ownDirs } from '../../core/state/index.ts';
import { inboxesOf } from '../hook/index.ts';
import { keptSessions, type Session } from '../open/index.ts';
import type { Io } from './command.ts';
import { whoIs } from './gate-who.ts';
import { usage } from './outcome.ts';
import { lifeHere, surroundings } from './session-surroundings.node.ts';

/**
 * The persona that a command acts for: as it was said (`--as`), by the environment, else the one whose session is kept for
 * the current folder, or the nearest one above, and is not over.
 *
 * @throws Fault `usage` when nobody or more than one works there
 */
export function actingPersona(io: Io, db: Database, given: string | undefined): string {
  const { cwd } = surroundings();
  if (given === '') throw usage(new Error('--as: who? Give the name of a persona'));
  const { config } = ownDirs({ ...io.env });
  const nameOf = (one: string): string => inboxesOf(one, config).name;
  const { persona } = whoIs({ persona: given, session: undefined, env: io.env, cwd, nameOf }, () => live(db));
  if (persona !== null) return persona;
  throw usage(
    new Error(`for whom? No one persona is known to work in ${cwd}: give --as PERSONA, or set HIVEBAR_PERSONA`),
  );
}

function live(db: Database): readonly Session[] {
  return keptSessions(db)
    .all()
    .filter(({ endedAt, runner }) => endedAt === null && lifeHere(runner) !== 'gone')
    .toSorted((a, b) => b.announcedAt - a.announcedAt);
}
