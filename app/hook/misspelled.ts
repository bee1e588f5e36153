import { displayName } from '../../core/format/index.ts';
import { findNearName, type LocalHive } from '../../core/inbox/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { SessionStore } from '../open/index.ts';
import { toNamedSessions } from './ended-sessions.ts';

interface KnownNames {
  readonly hive: Pick<LocalHive, 'personas' | 'elsewhere'>;
  readonly sessions: Pick<SessionStore, 'listAll'>;
  /** The directory of the settings. */
  readonly config: string;
}

/**
 * Refuses mail to a name that nobody has and that is close to one that somebody has. Otherwise a misspelled name would become a new
 * persona whose mail nobody reads.
 * @param how what the sender does to mean it
 * @throws Fault `usage`
 */
export function refuseMisspelled(to: string, { hive, sessions, config }: KnownNames, how: string): void {
  const personas = hive.personas().map(({ name }) => name);
  if (personas.includes(to) || hive.elsewhere.has(to)) return;
  const near = findNearName(to, [
    ...personas,
    ...toNamedSessions(sessions.listAll(), config).map((session) => session.persona),
  ]);
  if (near === null) return;
  const message = `there is no persona ${displayName(to)}: did you mean ${displayName(near)}? ${how} to make a new one`;
  throw new Fault('usage', message, { is: 'machine', key: `persona:${to}` });
}
