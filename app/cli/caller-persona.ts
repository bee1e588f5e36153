import { join, sep } from 'node:path';
import { type Io, toUsageFault } from '../../core/command/index.ts';
import { type Database, findOwnDirs, openStore } from '../../core/state/index.ts';
import { findPersonaOfSession, locateInbox } from '../hook/index.ts';
import { openSessionStore, type Session } from '../open/index.ts';
import { findThread } from './codex.node.ts';
import { DATABASE } from './open-local-hive.ts';
import { findRunnerLife, getSurroundings } from './session-surroundings.node.ts';

/** The persona and session whose gates a command is about. */
export interface GateCaller {
  /** Null: unknown. */
  readonly persona: string | null;
  /** Null: unknown. The command is then about every session of the persona. */
  readonly session: string | null;
}

export interface CallerEvidence {
  readonly persona: string | undefined;
  readonly session: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Resolves any form of a persona's id to its name in the local hive; see `locateInbox`. */
  readonly resolveName: (persona: string) => string;
}

/**
 * Identifies the caller by the flags, else the environment, else the announced sessions. Of those it takes the session with
 * that id or thread, else the newest live one in this folder or the nearest folder above. Where several personas work in one
 * folder it takes none: the mark of one must not satisfy the gate of another (inbox and gates, contract 8, defect 8).
 *
 * The returned persona is its name in the local hive, where its gates and decisions are, whichever form of the id was given or
 * stored.
 *
 * @param listLive returns the announced sessions that are not over, newest first; called only when something is missing
 */
export function identifyCaller(
  { env, cwd, resolveName, ...flags }: CallerEvidence,
  listLive: () => readonly Session[],
): GateCaller {
  const statedPersona = flags.persona || env.HIVEBAR_PERSONA || null;
  const persona = statedPersona === null ? null : resolveName(statedPersona);
  const named = flags.session || env.HIVEBAR_SESSION || null;
  const session = named ?? findThread(env);
  if (persona !== null && session !== null) return { persona, session };
  const sessions = listLive()
    .map((candidate) => ({ ...candidate, persona: resolveName(candidate.persona) }))
    .filter((candidate) => persona === null || candidate.persona === persona);
  const announced =
    session === null ? null : findCommonSession(sessions.filter((candidate) => candidate.id === session));
  if (session !== null && (named !== null || announced !== null))
    return { persona: announced?.persona ?? persona, session };
  const inFolder = sessions.filter((candidate) => isWithin(cwd, candidate.cwd));
  const depth = Math.max(0, ...inFolder.map((candidate) => candidate.cwd.length));
  const closest = findCommonSession(inFolder.filter((candidate) => candidate.cwd.length === depth));
  return { persona: persona ?? closest?.persona ?? null, session: session ?? closest?.id ?? null };
}

/** Returns the newest session when all sessions are of one persona. */
function findCommonSession(sessions: readonly Session[]): Session | null {
  const [newest] = sessions;
  return newest !== undefined && sessions.every((candidate) => candidate.persona === newest.persona) ? newest : null;
}

function isWithin(folder: string, above: string): boolean {
  return folder === above || folder.startsWith(above.endsWith(sep) ? above : `${above}${sep}`);
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
  return findPersonaOfSession(openSessionStore(db), thread, config);
}

/**
 * Resolves the persona that a command acts for: the flag (`--as`), else the environment, else the stored sessions. Of the
 * sessions that are not over, those of the current folder count, or of the nearest folder above.
 *
 * @throws Fault `usage` when nobody or more than one persona works there
 */
export function resolveActingPersona(io: Io, db: Database, personaFlag: string | undefined): string {
  const { cwd } = getSurroundings();
  if (personaFlag === '') throw toUsageFault(new Error('--as is empty: use the name of a persona'));
  const { config } = findOwnDirs({ ...io.env });
  const resolveName = (alias: string): string => locateInbox(alias, config).name;
  const { persona } = identifyCaller({ persona: personaFlag, session: undefined, env: io.env, cwd, resolveName }, () =>
    listLiveSessions(db),
  );
  if (persona !== null) return persona;
  throw toUsageFault(new Error(`cannot tell which persona works in ${cwd}: use --as PERSONA, or set HIVEBAR_PERSONA`));
}

/** Returns the announced sessions that are not over, newest first. */
export function listLiveSessions(db: Database): readonly Session[] {
  return openSessionStore(db)
    .listAll()
    .filter(({ endedAt, runner }) => endedAt === null && findRunnerLife(runner) !== 'gone')
    .toSorted((a, b) => b.announcedAt - a.announcedAt);
}
