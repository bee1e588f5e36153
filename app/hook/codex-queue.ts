import { Fault } from '../../core/model/index.ts';
import type { Spawn } from '../../core/ports/index.ts';
import { type ProgramEnv, programOnPath } from '../programs.node.ts';

/** Matches the tokens of hives, which no other program may get. */
const SECRET = /TOKEN/i;
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

export const isThread = (session: string | null): session is string => session !== null && THREAD.test(session);

/** Queues a message for a thread of Codex. Its server delivers the message between two turns. @throws Fault `exec-failed` */
export async function queueMessage(
  { spawn, env, os, stop }: QueueNeeds,
  thread: string,
  home: string,
  message: string,
): Promise<void> {
  const file = programOnPath('codex', env, os, BESIDE);
  if (file === null) throw createCodexFault('codex is not on PATH of the tray process');
  const own: Record<string, string> = { CODEX_HOME: home };
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !SECRET.test(name) && name !== 'CODEX_HOME') own[name] = value;
  const args = ['queue', '--thread', thread, '--message', message];
  const ended = await spawn.run({ file, args, env: own, timeoutMs: WITHIN_MS }, stop);
  if (ended.is === 'exited' && ended.code === 0) return;
  throw createCodexFault(
    `codex queue: ${ended.is === 'exited' ? ended.stderr.trim().slice(-200) || `exit ${ended.code}` : ended.is}`,
  );
}

function createCodexFault(message: string): Fault {
  return new Fault('exec-failed', message, { is: 'machine', key: 'codex' });
}
