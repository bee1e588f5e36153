import type { Io } from '../../../core/command/index.ts';
import {
  findPermissionWait,
  formatPermissionReply,
  type HookTurn,
  type PermissionAnswer,
  parsePermissionCall,
} from '../../../core/hooks/index.ts';
import { type Log, realClock } from '../../../core/ports/index.ts';
import { waitUntil } from '../../../core/services/index.ts';
import { isPromptOpen, readHarnessState, reportAnswered } from '../../hook/index.ts';
import { createLivenessCheck } from '../../open/index.ts';
import { createLineOutput } from '../nonblocking-io.node.ts';
import { findHome, getSurroundings } from '../session-surroundings.node.ts';
import { askTray } from '../tray-request.node.ts';
import { findRunner } from './system.node.ts';

/** The tray process ends the wait. This is for one that hangs. */
const LONGER_MS = 1000;
/** How often it is seen whether the prompt was answered in the terminal. Nothing tells a hook that waits. */
const CHECK_MS = 250;

interface PermissionPrompt {
  readonly harness: string;
  readonly turn: HookTurn;
  readonly stdin: string;
  readonly persona: string | null;
  /** The directory of the session reports. */
  readonly run: string;
  readonly env: Io['env'];
  readonly log: Log;
}

/**
 * Asks a person in Hivebar about the permission prompt of this call, and prints the answer. Without one it prints nothing, and the dialog
 * of the agent program decides: when Hivebar does not run, does not take answers, or ends, when nobody answers in time, and when the
 * person answers in the terminal.
 */
export async function askPermission(prompt: PermissionPrompt): Promise<void> {
  const { harness, turn, stdin, persona, run, env, log } = prompt;
  const { session, cwd, isSubagent: subagent } = turn;
  const call = parsePermissionCall(harness, stdin);
  const waitMs = findPermissionWait(harness);
  if (call === null || waitMs === null || session === null) return;
  const body = JSON.stringify({ harness, session, persona, subagent, cwd, ...call });
  const over = new AbortController();
  const answered = new AbortController();
  void endWithPrompt(prompt, session, over, answered.signal);
  try {
    const request = { method: 'POST', path: '/api/v1/permissions', body } as const;
    const response = await askTray(request, env, waitMs + LONGER_MS, over.signal);
    if (response.is !== 'answered' || response.status !== 200) return;
    const { answer } = JSON.parse(response.body) as { readonly answer: PermissionAnswer | null };
    if (answer !== 'allow' && answer !== 'deny') return;
    const written = await createLineOutput().write(formatPermissionReply(answer), { aborted: false });
    if (written === 'written') reportAnswered(run, turn, realClock.now());
  } catch (error) {
    if (!over.signal.aborted)
      log.warn(`no answer to the permission prompt: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    answered.abort();
  }
}

/** Aborts `over` when the prompt was answered in the terminal, or its session is over. */
async function endWithPrompt(
  { harness, turn, run, env }: PermissionPrompt,
  session: string,
  over: AbortController,
  answered: AbortSignal,
): Promise<void> {
  const runner = findRunner(harness, session, env);
  const home = harness === 'claude' ? findHome(harness, env) : null;
  const checkProcess = createLivenessCheck(getSurroundings().platform);
  let hasWaited = false;
  const isOver = (): boolean => {
    const state = home === null ? 'unknown' : readHarnessState(home, runner.pid, session);
    const hasGoneOn = hasWaited && (state === 'busy' || state === 'idle');
    hasWaited ||= state === 'waiting';
    return hasGoneOn || !isPromptOpen(run, turn) || checkProcess(runner) === 'gone';
  };
  await waitUntil(isOver, CHECK_MS, realClock, answered);
  over.abort();
}
