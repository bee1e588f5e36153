import type { PersonaId } from '../../core/model/index.ts';
import type { Session, Sessions } from '../open/index.ts';
import { inboxesOf, LOCAL } from './inboxes.node.ts';

/** Whoever announced them, by its name in the local hive: that is where its items, its gates and its decisions are. */
export function namedSessions(sessions: readonly Session[], config: string): readonly Session[] {
  const names = new Map<PersonaId, string>();
  return sessions.map((session) => {
    const name = names.get(session.persona) ?? inboxesOf(session.persona, config).name;
    names.set(session.persona, name);
    return { ...session, persona: name };
  });
}

/**
 * The sessions of a persona of the board, newest first. One of the local hive may have been announced by its id or by its
 * name, of which one has `local-` before it; a persona of another hive is nobody but itself.
 */
export function sessionsOf(sessions: Pick<Sessions, 'of'>, config: string): (id: PersonaId) => readonly Session[] {
  return (id) => {
    const own = sessions.of(id);
    return own.length > 0 ? own : formsOf(id, config).flatMap(sessions.of);
  };
}

/** What a persona is called: its own form first. */
export function formsOf(id: PersonaId, config: string): readonly PersonaId[] {
  const { name, isFollowed } = inboxesOf(id, config);
  if (isFollowed) return [id];
  return [id, name === id ? `${LOCAL}${name}` : name];
}
