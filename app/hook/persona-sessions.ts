import type { PersonaId } from '../../core/model/index.ts';
import type { Session, SessionStore } from '../open/index.ts';
import { LOCAL, locateInbox } from './inbox-location.node.ts';

/** Whoever announced them, by its name in the local hive: that is where its items, its gates and its decisions are. */
export function toNamedSessions(sessions: readonly Session[], config: string): readonly Session[] {
  const names = new Map<PersonaId, string>();
  return sessions.map((session) => {
    const name = names.get(session.persona) ?? locateInbox(session.persona, config).name;
    names.set(session.persona, name);
    return { ...session, persona: name };
  });
}

/**
 * The sessions of a persona of the board, newest first. One of the local hive may have been announced by its id or by its
 * name, of which one has `local-` before it; a persona of another hive is nobody but itself.
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

/** What a persona is called: its own form first. */
export function listPersonaForms(id: PersonaId, config: string): readonly PersonaId[] {
  const { name, isFollowed } = locateInbox(id, config);
  if (isFollowed) return [id];
  return [id, name === id ? `${LOCAL}${name}` : name];
}
