import type { PersonaId } from '../../core/model/index.ts';
import type { Session, SessionStore } from '../open/index.ts';
import { LOCAL, locateInbox } from './inbox-location.node.ts';

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
