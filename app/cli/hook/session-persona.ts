import type { Io } from '../../../core/command/index.ts';
import type { HookTurn } from '../../../core/hooks/index.ts';
import { locateInbox } from '../../hook/index.ts';
import type { Session, SessionStore } from '../../open/index.ts';
import { getProcessPersona } from '../caller-persona.ts';

/** Returns the persona that stdin, the environment or the command line names. Null: only announced sessions can tell. */
export function findStatedPersona({ persona }: HookTurn, env: Io['env'], flag: string | null): string | null {
  return persona ?? getProcessPersona(env) ?? flag;
}

/**
 * Formats why no persona was chosen, and what helps. For a Codex thread the session must be set, because its hooks have no
 * environment of their own.
 */
export function formatAmbiguous({ session, cwd }: HookTurn, personas: readonly string[]): string {
  const next = session === null ? '' : `: hivebar session set PERSONA --id ${session}`;
  return `several personas work in ${cwd}: ${personas.join(', ')}; choose the persona of this session${next}`;
}

type PersonaMatch =
  | { readonly is: 'known'; readonly persona: string }
  | { readonly is: 'nobody' }
  /** Several personas are announced from the folder. One must not get the mail of another. */
  | { readonly is: 'ambiguous'; readonly personas: readonly string[] };

/**
 * Finds the persona among the announced sessions: the session with this id, else the only persona that works in this folder.
 * @param flag the persona of the command line, where a thread comes before it (Codex); null: none, or it was tried before
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
  // A persona of the local hive may be stored by name or by id. Both are one persona, and the newest form is used.
  const byInbox = new Map(
    inFolder.toReversed().map(({ persona }) => [JSON.stringify(locateInbox(persona, config)), persona]),
  );
  const personas = [...byInbox.values()];
  const [persona] = personas;
  if (persona === undefined) return { is: 'nobody' };
  return personas.length > 1 ? { is: 'ambiguous', personas } : { is: 'known', persona };
}
