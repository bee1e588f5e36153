import type { HookTurn } from '../../../core/hooks/index.ts';
import { locateInbox } from '../../hook/index.ts';
import type { Session, SessionStore } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { getProcessPersona } from '../persona-lookup.ts';

/** Whose agent asks, as far as it is said: by stdin, the environment, the command line. Null: only sessions may tell. */
export function findStatedPersona({ persona }: HookTurn, env: Io['env'], flag: string | null): string | null {
  return persona ?? getProcessPersona(env) ?? flag;
}

/** Why nobody is told, and what helps. A thread of Codex can only be named: its hooks know no environment of its own. */
export function formatAmbiguous({ session, cwd }: HookTurn, personas: readonly string[]): string {
  const say = session === null ? '' : `: hivebar session set PERSONA --id ${session}`;
  return `several personas work in ${cwd}: ${personas.join(', ')}; say whose session this is${say}`;
}

export type PersonaMatch =
  | { readonly is: 'known'; readonly persona: string }
  | { readonly is: 'nobody' }
  /** Several are announced from the folder: mail of one is not for the other. */
  | { readonly is: 'ambiguous'; readonly personas: readonly string[] };

/**
 * Whose agent asks, as sessions were announced: the one with this id, else whoever works in this folder.
 * @param flag whom the command line names, where a thread goes before it (Codex); null: nobody, or it was asked before
 */
export function findAnnouncedPersona(
  { session, cwd }: HookTurn,
  sessions: SessionStore,
  config: string,
  flag: string | null,
): PersonaMatch {
  const announced = sessions.listAll().toSorted((a, b) => b.announcedAt - a.announcedAt);
  const byId = session === null ? undefined : announced.find(({ id }) => id === session);
  if (byId !== undefined) return { is: 'known', persona: byId.persona };
  if (flag !== null) return { is: 'known', persona: flag };
  const inFolder = announced.filter(
    (candidate: Session) => candidate.endedAt === null && cwd !== null && candidate.cwd === cwd,
  );
  // One of the local hive is kept by its name or by its id, and is one persona; the newest form is as good as any.
  const byInbox = new Map(
    inFolder.toReversed().map(({ persona }) => [JSON.stringify(locateInbox(persona, config)), persona]),
  );
  const personas = [...byInbox.values()];
  const [persona] = personas;
  if (persona === undefined) return { is: 'nobody' };
  return personas.length > 1 ? { is: 'ambiguous', personas } : { is: 'known', persona };
}
