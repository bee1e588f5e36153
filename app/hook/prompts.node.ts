import * as fs from 'node:fs';
import { join } from 'node:path';
import type { HookTurn } from '../../core/hooks/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { getErrno, toStem } from '../../core/state/index.ts';

/** One agent of a session: its main one, or a helper of it. */
export interface SessionAgent {
  readonly session: string;
  /** Null: the main one. */
  readonly agent: string | null;
}

/**
 * Where a hook notes that an agent asks its person for something, a file an agent: `<run>/prompts/<stem>/<session>.<agent>`. The
 * hook script asks the program while the folder is there, so that whatever ends the question is noticed.
 */
export const getPromptsDir = (run: string, persona: PersonaId): string => join(run, 'prompts', toStem(persona));

const MAIN = 'main';
const formatPrefix = (session: string): string => `${toStem(session)}.`;
const formatNoteName = ({ session, agent }: SessionAgent): string =>
  `${formatPrefix(session)}${agent === null ? MAIN : toStem(`a ${agent}`)}`;

const ENDS: ReadonlySet<string> = new Set(['PostToolUse', 'UserPromptSubmit', 'Stop', 'StopFailure', 'SubagentStop']);

/** Notes what a call of a hook says of it. Never throws: the harness's own word and the screen are looked at too. */
export function followPrompts(run: string, persona: PersonaId, { event, session, agent, isAsking }: HookTurn): void {
  if (session === null) return;
  const dir = getPromptsDir(run, persona);
  try {
    if (event === 'PermissionRequest' || isAsking) note(dir, formatNoteName({ session, agent }));
    else if (ENDS.has(event)) clear(dir, (name) => name === formatNoteName({ session, agent }));
    else if (event === 'SessionStart' || event === 'SessionEnd')
      clear(dir, (name) => name.startsWith(formatPrefix(session)));
  } catch {
    // A note that stays too long keeps the agent from being typed to, until its session is over.
  }
}

function note(dir: string, name: string): void {
  realFiles.mkdirAll(dir, 0o700);
  fs.writeFileSync(join(dir, name), '', { mode: 0o600 });
}

function clear(dir: string, isMeant: (name: string) => boolean): void {
  if (!fs.existsSync(dir)) return;
  for (const name of fs.readdirSync(dir).filter(isMeant)) fs.rmSync(join(dir, name), { force: true });
  if (fs.readdirSync(dir).length === 0) fs.rmdirSync(dir);
}

/** Whether an agent of one of these sessions asks. */
export function isPrompted(run: string, persona: PersonaId, sessions: readonly string[]): boolean {
  try {
    const names = fs.readdirSync(getPromptsDir(run, persona));
    return names.some((name) => sessions.some((session) => name.startsWith(formatPrefix(session))));
  } catch (error) {
    return getErrno(error) !== 'ENOENT'; // what cannot be looked at is no proof
  }
}
