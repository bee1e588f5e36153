import type { Items } from '../../core/inbox/index.ts';
import type { Instant, PersonaId } from '../../core/model/index.ts';
import type { Session, SessionStore } from '../open/index.ts';
import { LOCAL, locateInbox } from './stamps.node.ts';

/** An item for a session that nobody announced waits this long for the session, and then goes to the persona. */
export const UNKNOWN_SESSION_MS = 86_400_000;

interface EndedSessionsNeeds {
  readonly items: Pick<Items, 'awaitedSessions' | 'endSession'>;
  readonly sessions: () => Pick<SessionStore, 'listAll'>;
  /** The directory of the settings. */
  readonly config: string;
  readonly now: Instant;
  /** Returns whether the process of a session that did not report its end is gone. The check may take a while. */
  readonly isGone: (session: Session) => boolean;
}

export interface SessionHandover {
  readonly persona: string;
  readonly session: string;
  readonly count: number;
}

/**
 * Gives the items that wait for closed sessions to their personas, whose next session is shown them. Costs one statement while no
 * item waits for a particular session. @throws Fault `database`
 */
export function handOverEnded({
  items,
  sessions,
  config,
  now,
  isGone,
}: EndedSessionsNeeds): readonly SessionHandover[] {
  const awaited = items.awaitedSessions();
  if (awaited.length === 0) return [];
  const known = toNamedSessions(sessions().listAll(), config);
  return awaited.flatMap(({ persona, session, since }): SessionHandover[] => {
    const candidates = known.filter((candidate) => candidate.id === session && candidate.persona === persona);
    const isOver =
      candidates.length === 0
        ? now - since > UNKNOWN_SESSION_MS
        : candidates.every((candidate) => candidate.endedAt !== null || isGone(candidate));
    const count = isOver ? items.endSession(persona, session) : 0;
    return count === 0 ? [] : [{ persona, session, count }];
  });
}

/** Maps sessions to the persona's name in the local hive, because its items, gates and decisions have that name. */
export function toNamedSessions(sessions: readonly Session[], config: string): readonly Session[] {
  const names = new Map<PersonaId, string>();
  return sessions.map((session) => {
    const name = names.get(session.persona) ?? locateInbox(session.persona, config).name;
    names.set(session.persona, name);
    return { ...session, persona: name };
  });
}

/**
 * Returns the persona whose agent works in this session, according to its newest announcement, by its name in the local hive.
 * Null: nobody announced it.
 */
export function findPersonaOfSession(
  sessions: Pick<SessionStore, 'listAll'>,
  session: string,
  config: string,
): string | null {
  const announced = sessions.listAll().filter(({ id }) => id === session);
  const [newest] = announced.toSorted((a, b) => b.announcedAt - a.announcedAt);
  return newest === undefined ? null : locateInbox(newest.persona, config).name;
}

/**
 * Creates the function that lists the sessions of a persona on the board, newest first. A persona of the local hive may have been
 * announced by its id or by its name, and one of these has the prefix `local-`. A persona of another hive only has its id.
 */
export function createSessionFinder(
  sessions: Pick<SessionStore, 'list'>,
  config: string,
): (id: PersonaId) => readonly Session[] {
  return (id) => {
    const own = sessions.list(id);
    return own.length > 0 ? own : listPersonaForms(id, config).flatMap(sessions.list);
  };
}

/** Lists the ids that a persona may be announced by, its own id first. */
export function listPersonaForms(id: PersonaId, config: string): readonly PersonaId[] {
  const { name, isFollowed } = locateInbox(id, config);
  if (isFollowed) return [id];
  return [id, name === id ? `${LOCAL}${name}` : name];
}
