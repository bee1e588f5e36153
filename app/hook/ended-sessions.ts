import type { Items } from '../../core/inbox/index.ts';
import type { Instant } from '../../core/model/index.ts';
import type { Session, SessionStore } from '../open/index.ts';
import { toNamedSessions } from './persona-sessions.ts';

/** An item for a session that nobody announced waits this long for the session, and then goes to the persona. */
export const UNKNOWN_SESSION_MS = 86_400_000;

export interface EndedSessionsNeeds {
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
