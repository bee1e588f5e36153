import type { Database } from '../../core/state/index.ts';
import { keptSessions } from '../open/index.ts';
import type { Io } from './command.ts';
import { usage } from './outcome.ts';
import { lifeHere, surroundings } from './session-surroundings.node.ts';

/**
 * The persona that a command acts for: as it was said (`--as`), by the environment, else the one whose session is kept for
 * the current folder and not over.
 *
 * @throws Fault `usage` when nobody or more than one works there
 */
export function actingPersona(io: Io, db: Database, given: string | undefined): string {
  if (given !== undefined) return given;
  const said = personaOfProcess(io.env);
  if (said !== null) return said;
  const { cwd } = surroundings();
  const here = keptSessions(db)
    .all()
    .filter((session) => session.cwd === cwd && session.endedAt === null && lifeHere(session.runner) !== 'gone');
  const [persona, ...others] = [...new Set(here.map((session) => session.persona))];
  if (persona === undefined) throw usage(new Error('for whom? Give --as PERSONA, or set HIVEBAR_PERSONA'));
  if (others.length === 0) return persona;
  throw usage(new Error(`${[persona, ...others].join(' and ')} work in ${cwd}: say which with --as`));
}

/** The persona that this process works for, as whoever started it said. */
export function personaOfProcess({ HIVEBAR_PERSONA }: Io['env']): string | null {
  return HIVEBAR_PERSONA === undefined || HIVEBAR_PERSONA === '' ? null : HIVEBAR_PERSONA;
}
