import * as fs from 'node:fs';
import { join } from 'node:path';
import type { HookTurn } from '../../core/hooks/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { realFiles } from '../../core/ports/index.ts';
import { getErrno, toStem } from '../../core/state/index.ts';

/** An agent of a session: its main agent or a subagent. */
export interface SessionAgent {
  readonly session: string;
  /** Null for the main agent. */
  readonly agent: string | null;
}

/**
 * The directory in which a hook notes that an agent is asking its person for something, one file per agent:
 * `<run>/prompts/<stem>/<session>.<agent>`. While it exists, the hook script starts the program at every event, so that the end
 * of the question is noticed.
 */
export const getPromptsDir = (run: string, persona: PersonaId): string => join(run, 'prompts', toStem(persona));

const MAIN = 'main';
const formatPrefix = (session: string): string => `${toStem(session)}.`;
const formatNoteName = ({ session, agent }: SessionAgent): string =>
  `${formatPrefix(session)}${agent === null ? MAIN : toStem(`a ${agent}`)}`;

const ENDS: ReadonlySet<string> = new Set(['PostToolUse', 'UserPromptSubmit', 'Stop', 'StopFailure', 'SubagentStop']);

/**
 * Notes what a call of a hook says about questions. Never throws, because the harness's report and the screen are checked as
 * well.
 */
export function followPrompts(run: string, persona: PersonaId, { event, session, agent, isAsking }: HookTurn): void {
  if (session === null) return;
  const dir = getPromptsDir(run, persona);
  try {
    if (event === 'PermissionRequest' || isAsking) note(dir, formatNoteName({ session, agent }));
    else if (ENDS.has(event)) clear(dir, (name) => name === formatNoteName({ session, agent }));
    else if (event === 'SessionStart' || event === 'SessionEnd')
      clear(dir, (name) => name.startsWith(formatPrefix(session)));
  } catch {
    // A note that stays too long prevents typing to the agent until its session is over.
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

/** Returns whether an agent of one of these sessions is asking. */
export function isPrompted(run: string, persona: PersonaId, sessions: readonly string[]): boolean {
  try {
    const names = fs.readdirSync(getPromptsDir(run, persona));
    return names.some((name) => sessions.some((session) => name.startsWith(formatPrefix(session))));
  } catch (error) {
    return getErrno(error) !== 'ENOENT'; // a directory that cannot be read proves nothing
  }
}
