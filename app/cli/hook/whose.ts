import type { Turn } from '../../../core/hooks/index.ts';
import { inboxesOf } from '../../hook/index.ts';
import type { Session, Sessions } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { personaOfProcess } from '../inbox-who.ts';

/** Whose agent asks, as far as it is said: by stdin, the environment, the command line. Null: only sessions may tell. */
export function personaSaid({ persona }: Turn, env: Io['env'], flag: string | null): string | null {
  return persona ?? personaOfProcess(env) ?? flag;
}

/** Why nobody is told, and what helps. A thread of Codex can only be named: its hooks know no environment of its own. */
export function formatAmbiguous({ session, cwd }: Turn, personas: readonly string[]): string {
  const say = session === null ? '' : `: hivebar session set PERSONA --id ${session}`;
  return `several personas work in ${cwd}: ${personas.join(', ')}; say whose session this is${say}`;
}

export type Known =
  | { readonly is: 'known'; readonly persona: string }
  | { readonly is: 'nobody' }
  /** Several are announced from the folder: mail of one is not for the other. */
  | { readonly is: 'ambiguous'; readonly personas: readonly string[] };

/**
 * Whose agent asks, as sessions were announced: the one with this id, else whoever works in this folder.
 * @param flag whom the command line names, where a thread goes before it (Codex); null: nobody, or it was asked before
 */
export function personaKept({ session, cwd }: Turn, sessions: Sessions, config: string, flag: string | null): Known {
  const all = sessions.all().toSorted((a, b) => b.announcedAt - a.announcedAt);
  const byId = session === null ? undefined : all.find(({ id }) => id === session);
  if (byId !== undefined) return { is: 'known', persona: byId.persona };
  if (flag !== null) return { is: 'known', persona: flag };
  const here = all.filter((one: Session) => one.endedAt === null && cwd !== null && one.cwd === cwd);
  // One of the local hive is kept by its name or by its id, and is one persona; the newest form is as good as any.
  const byInbox = new Map(
    here.toReversed().map(({ persona }) => [JSON.stringify(inboxesOf(persona, config)), persona]),
  );
  const personas = [...byInbox.values()];
  const [persona] = personas;
  if (persona === undefined) return { is: 'nobody' };
  return personas.length > 1 ? { is: 'ambiguous', personas } : { is: 'known', persona };
}
