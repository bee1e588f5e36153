import { sep } from 'node:path';
import type { Session } from '../open/index.ts';
import { findThread } from './codex-env.ts';

/** Whose gates a command is about. */
export interface Who {
  /** Null: nothing says it. */
  readonly persona: string | null;
  /** Null: nothing says it, which is every session of the persona. */
  readonly session: string | null;
}

export interface Told {
  readonly persona: string | undefined;
  readonly session: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** See `inboxesOf`. */
  readonly nameOf: (persona: string) => string;
}

/**
 * By the flag, else the environment, else the sessions that were announced: the one of that id or thread, else the newest that lives in
 * this folder or the nearest one above. Where several personas work in one folder it is none of them: the mark of one
 * must not satisfy the gate of another (inbox and gates, contract 8, defect 8).
 *
 * The persona is its name in the local hive, where its gates and decisions are, whichever form of its id was given or kept.
 *
 * @param live the announced sessions that are not over, newest first; asked for only when something is missing
 */
export function whoIs({ env, cwd, nameOf, ...flags }: Told, live: () => readonly Session[]): Who {
  const said = flags.persona || env.HIVEBAR_PERSONA || null;
  const persona = said === null ? null : nameOf(said);
  const named = flags.session || env.HIVEBAR_SESSION || null;
  const session = named ?? findThread(env);
  if (persona !== null && session !== null) return { persona, session };
  const all = live()
    .map((one) => ({ ...one, persona: nameOf(one.persona) }))
    .filter((one) => persona === null || one.persona === persona);
  const announced = session === null ? null : only(all.filter((one) => one.id === session));
  if (session !== null && (named !== null || announced !== null))
    return { persona: announced?.persona ?? persona, session };
  const here = all.filter((one) => isWithin(cwd, one.cwd));
  const depth = Math.max(0, ...here.map((one) => one.cwd.length));
  const found = only(here.filter((one) => one.cwd.length === depth));
  return { persona: persona ?? found?.persona ?? null, session: session ?? found?.id ?? null };
}

/** The newest, when all are of one persona. */
function only(sessions: readonly Session[]): Session | null {
  const [newest] = sessions;
  return newest !== undefined && sessions.every((one) => one.persona === newest.persona) ? newest : null;
}

function isWithin(folder: string, above: string): boolean {
  return folder === above || folder.startsWith(above.endsWith(sep) ? above : `${above}${sep}`);
}
