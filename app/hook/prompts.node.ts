import * as fs from 'node:fs';
import { join } from 'node:path';
import { type HarnessState, type HookTurn, isFailedTurn } from '../../core/hooks/index.ts';
import type { PersonaId } from '../../core/model/index.ts';
import { O, realFiles } from '../../core/ports/index.ts';
import { getErrno, readText, toIoFault, toStem } from '../../core/state/index.ts';

/** An agent of a session: its main agent or a subagent. */
interface SessionAgent {
  readonly session: string;
  /** Null for the main agent. */
  readonly agent: string | null;
}

/**
 * The directory in which a hook notes that an agent is asking its person for something, one file per agent:
 * `<run>/prompts/<stem>/<session>.<agent>`. While it exists, the hook script starts the program at every event, so that the end
 * of the question is noticed.
 */
const getPromptsDir = (run: string, persona: PersonaId): string => join(run, 'prompts', toStem(persona));

const MAIN = 'main';
const formatPrefix = (session: string): string => `${toStem(session)}.`;
const formatNoteName = ({ session, agent }: SessionAgent): string =>
  `${formatPrefix(session)}${agent === null ? MAIN : toStem(`a ${agent}`)}`;

const ENDS: ReadonlySet<string> = new Set([
  ...['PostToolUse', 'UserPromptSubmit', 'Stop', 'StopFailure', 'SubagentStop', 'Interrupt'],
]);

/**
 * Notes what a call of a hook says about questions, and that an agent cannot work, which ends like a question. Never throws, because
 * the harness's report and the screen are checked as well.
 */
export function followPrompts(run: string, persona: PersonaId, turn: HookTurn): void {
  const { event, session, agent, isAsking } = turn;
  if (session === null) return;
  const dir = getPromptsDir(run, persona);
  try {
    if (event === 'PermissionRequest' || isAsking || isFailedTurn(turn)) note(dir, formatNoteName({ session, agent }));
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

/** The directory in which the hook notes an agent's last moment, one file per persona: `<run>/activity/<stem>`. */
export const getActivityDir = (run: string): string => join(run, 'activity');

/** Creates the directory, because the script creates none. @throws Fault `unwritable` or `no-space` */
export function makeActivityDir(run: string): void {
  const dir = getActivityDir(run);
  try {
    realFiles.mkdirAll(dir, 0o700);
  } catch (error) {
    throw toIoFault(error, dir, 'unwritable');
  }
}

const MOST_BYTES = 4096;

/** The moment that is noted in place of `Stop` when the agent was made to continue. */
export const CONTINUED = 'Continued';

/**
 * Notes a moment as the script does when it asks no program: the moment is the content, its time is that of the file. Never
 * throws, because losing a note costs little.
 */
export function noteActivity(run: string, persona: PersonaId, moment: string): void {
  const dir = getActivityDir(run);
  const write = (): void => writeNote(join(dir, toStem(persona)), `${moment}\n`);
  try {
    try {
      write();
    } catch (error) {
      if (getErrno(error) !== 'ENOENT') throw error;
      realFiles.mkdirAll(dir, 0o700);
      write();
    }
  } catch {
    // The agent continues all the same; a later reader finds an older moment.
  }
}

/** Does not wait for a pipe that may be at this path. */
function writeNote(path: string, text: string): void {
  const fd = realFiles.open(path, O.WRONLY | O.CREAT | O.TRUNC | O.NOFOLLOW | O.NONBLOCK, 0o600);
  try {
    realFiles.write(fd, Buffer.from(text));
  } finally {
    realFiles.close(fd);
  }
}

/** Returns the moment and its time (ms since the epoch), or null when no hook of this persona ever ran. */
export function readActivity(run: string, persona: PersonaId): { readonly moment: string; readonly at: number } | null {
  try {
    const path = join(getActivityDir(run), toStem(persona));
    const at = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (at === undefined) return null;
    return { moment: readText(realFiles, path, MOST_BYTES)?.trim() ?? '', at };
  } catch {
    return null; // no note, or one that cannot be read: not known
  }
}

/** Larger than what Claude Code writes about a session. */
const MOST_SESSION_BYTES = 64 * 1024;

/**
 * Returns what Claude Code reports about the session of this process, in `sessions/PID.json` of its configuration folder.
 * `unknown` means that there is nothing, or that it is about another session. Only `idle` is a proof.
 */
export function readHarnessState(home: string, pid: number, session: string | null): HarnessState {
  const path = join(home, 'sessions', `${pid}.json`);
  try {
    return parseHarnessState(readText(realFiles, path, MOST_SESSION_BYTES) ?? '', pid, session);
  } catch {
    return 'unknown'; // it does not exist or cannot be read
  }
}

/** @throws SyntaxError for text that is not JSON, for example from a file that is being written */
function parseHarnessState(text: string, pid: number, session: string | null): HarnessState {
  const record = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  if (record === null || typeof record !== 'object' || record.pid !== pid || record.sessionId !== session)
    return 'unknown';
  if (record.kind !== 'interactive') return 'unknown';
  if (record.waitingFor !== undefined && record.waitingFor !== null) return 'waiting';
  return record.status === 'idle' || record.status === 'busy' || record.status === 'waiting'
    ? record.status
    : 'unknown';
}
