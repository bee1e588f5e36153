import { type AgentState, Fault, type PersonaId } from '../../model/index.ts';
import type { NativeSession } from '../module.ts';
import type { Backend, MetaRecord } from './read/index.ts';

/** The arguments with which the program of each backend resumes a session. */
const RESUME: Readonly<Record<Backend, (id: string) => readonly string[]>> = {
  'claude-code': (id) => ['claude', '--resume', id],
  codex: (id) => ['codex', 'resume', id],
  antigravity: (id) => ['agy', '--conversation', id],
  pi: (id) => ['pi', '--session', id],
};

const NOT_IN_AN_ITEM = /[\p{Cc}\u2028\u2029]/u;

/**
 * Describes the native session of a citizen. A session whose agent is alive cannot be resumed, because two agents would write
 * to it.
 * @throws Fault `exec-failed` when the record names a session that must not be passed to a program
 */
export function toCitizenSession(persona: PersonaId, record: MetaRecord, agent: AgentState['is']): NativeSession {
  const { backend, nativeSessionId: id, cwd } = record;
  if (id.startsWith('-') || NOT_IN_AN_ITEM.test(id) || !id.isWellFormed()) {
    const message = `the record of ${persona} names the session ${JSON.stringify(id.slice(0, 80))}, which ${backend} cannot be given`;
    throw new Fault('exec-failed', message, { is: 'machine', key: 'open' });
  }
  return { persona, id, cwd, resume: agent === 'live' ? null : RESUME[backend](id) };
}
