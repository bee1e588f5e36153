import { Fault } from '../../core/model/index.ts';
import type { Spawn } from '../../core/ports/index.ts';
import type { Session } from '../open/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';
import { formatWakeWords } from './nudge-claims.ts';
import type { NudgeResult, Wake } from './wake-ways.ts';

/** Matches the tokens of hives, and what belongs to a session of Claude Code: no other program may get them. */
const SECRET = /TOKEN|^CLAUDE_CODE_MESSAGING_/i;
/** The time limit for the start of Codex and its database. */
const WITHIN_MS = 15_000;
/** Threads have UUIDs. Another session id is never passed to a command line. */
const THREAD = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BESIDE = ['/usr/local/bin', '/opt/homebrew/bin'];

export interface QueueNeeds {
  readonly spawn: Spawn;
  readonly env: ProgramEnv;
  readonly os: NodeJS.Platform;
  readonly stop: AbortSignal;
}

const isThread = (session: string | null): session is string => session !== null && THREAD.test(session);

/** Queues a message for a thread of Codex. Its server delivers the message between two turns. @throws Fault `exec-failed` */
async function queueMessage(
  { spawn, env, os, stop }: QueueNeeds,
  thread: string,
  home: string,
  message: string,
): Promise<NudgeResult> {
  const file = programOnPath('codex', env, os, BESIDE);
  if (file === null) throw createCodexFault('codex is not on PATH of the tray process');
  const own: Record<string, string> = { CODEX_HOME: home };
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !SECRET.test(name) && name !== 'CODEX_HOME') own[name] = value;
  const args = ['queue', '--thread', thread, '--message', message];
  const ended = await spawn.run({ file, args, env: own, timeoutMs: WITHIN_MS }, stop);
  if (ended.is === 'exited' && ended.code === 0) return { is: 'nudged' };
  if (ended.is !== 'exited') throw createCodexFault(`codex queue: ${ended.is}`);
  const { code, stderr } = ended;
  // It ends with 1 for everything, so only its words tell what happened.
  if (NO_SESSION.test(stderr)) return { is: 'wait', why: 'Codex runs no session of its thread' };
  const why = stderr.trim().slice(-MOST_STDERR) || `exit ${code}`;
  const next = CANNOT_WRITE.test(stderr) ? `: its queue in ${home} must be writable for the tray process` : '';
  throw createCodexFault(`codex queue: ${why}${next}`);
}

const MOST_STDERR = 200;
const NO_SESSION = /no active session found/i;
const CANNOT_WRITE = /read-?only (?:database|file ?system)|permission denied|malformed/i;

function createCodexFault(message: string): Fault {
  return new Fault('exec-failed', message, { is: 'machine', key: 'codex' });
}

/**
 * Null: it is no thread of Codex that somebody has open.
 * @param name the persona's name in the local hive
 * @param moment the last moment of the agent
 */
export function createQueueWake(session: Session, name: string, moment: string, needs: QueueNeeds): Wake | null {
  const { id, runner, harness } = session;
  // Without a lock nothing shows that the thread is open, and a message would wait until it is resumed.
  const isOpen = typeof runner.lock === 'string' && (moment === 'Stop' || moment === 'SessionStart');
  if (harness?.name !== 'codex' || !isOpen || !isThread(id)) return null;
  return ({ pending }) => queueMessage(needs, id, harness.home, formatWakeWords(pending, name, id));
}
