import type { Io } from '../../../core/command/index.ts';
import { displayName } from '../../../core/format/index.ts';
import { type Database, findOwnDirs } from '../../../core/state/index.ts';
import { findPersonaOfSession, locateInbox } from '../../hook/index.ts';
import { openSessionStore } from '../../open/index.ts';
import { getProcessPersona, identifyCaller, listLiveSessions } from '../caller-persona.ts';
import { findThread, isInCodexServer, removeForeign } from '../codex.node.ts';
import { getSurroundings } from '../session-surroundings.node.ts';
import { refuse } from './arguments.ts';

/** The agent that a call is for. */
export interface McpCaller {
  /** The persona's name in the local hive. */
  readonly name: string;
  /** Items for another session of the persona are not for it. Null: unknown. */
  readonly session: string | null;
  /** Its mail is in another system; the local hive has only its items. */
  readonly isFollowed: boolean;
}

/**
 * Finds the agent that makes a call: HIVEBAR_PERSONA, else the persona that announced the thread of this call or the session of
 * Claude Code, else the one whose session works in this folder. It is asked for each call, because a server outlives `/clear` and
 * is often started before the session is announced.
 *
 * @param thread the Codex thread that the call names; null: none
 * @throws Fault `usage` when nobody or more than one persona works here
 */
export function findMcpCaller(io: Io, db: Database, thread: string | null): McpCaller {
  const env = thread === null ? io.env : removeForeign(io.env, isInCodexServer);
  const { config } = findOwnDirs({ ...env });
  const resolveName = (alias: string): string => locateInbox(alias, config).name;
  const id = thread ?? (env.CLAUDE_CODE_SESSION_ID || findThread(env));
  const stated = getProcessPersona(env);
  if (stated !== null) return toCaller(stated, env.HIVEBAR_SESSION || id);
  const announced = id === null ? null : findPersonaOfSession(openSessionStore(db), id, config);
  if (announced !== null) return toCaller(announced, findCurrentSession(announced, id));
  const { cwd } = getSurroundings();
  const folder = { ...env, CODEX_THREAD_ID: undefined };
  const found = identifyCaller({ persona: undefined, session: undefined, env: folder, cwd, resolveName }, () =>
    listLiveSessions(db),
  );
  if (found.persona !== null) return toCaller(found.persona, id ?? found.session);
  throw refuse(
    `cannot tell which agent works in ${displayName(cwd)}: run hivebar session set NAME there, or set HIVEBAR_PERSONA in the environment of this server`,
  );

  function toCaller(persona: string, session: string | null): McpCaller {
    const { name, isFollowed } = locateInbox(persona, config);
    return { name, session, isFollowed };
  }

  /** The server keeps the id that it was started with. When that session is over, the newest one of the persona here is meant. */
  function findCurrentSession(persona: string, startId: string | null): string | null {
    const live = listLiveSessions(db).filter((session) => resolveName(session.persona) === persona);
    if (live.some((session) => session.id === startId)) return startId;
    const { cwd } = getSurroundings();
    return live.find((session) => session.cwd === cwd)?.id ?? startId;
  }
}
