import type { Fault } from '../../model/index.ts';
import { createHookFault, type HookInput } from './harness.ts';

/**
 * Several programs read the settings of Claude Code, or of Codex, and run the hooks in them. What they make of an answer is not known,
 * so they get none, and nothing counts as shown (harnesses, rules 3 and 7).
 */
export function refuseForeignInput(harness: string, input: HookInput): HookInput | Fault {
  const caller = findForeignCaller(input);
  return caller === null ? input : createHookFault(harness, `nothing is said to ${caller}`);
}

/** Null: the input has the form of Claude Code and Codex, which name the session in snake case. */
function findForeignCaller(input: HookInput): string | null {
  if (Object.hasOwn(input, 'cursor_version')) return CURSOR;
  if (Object.hasOwn(input, 'sessionId') || Object.hasOwn(input, 'hookEventName'))
    return 'a program that writes sessionId and hookEventName, as VS Code does';
  const { session_id } = input;
  return typeof session_id === 'string' && session_id.trim() !== '' ? null : 'a program that names no session_id';
}

const CURSOR = 'Cursor, which runs the hooks of Claude Code';

const COPILOT = 'Copilot CLI, which runs the hooks of Claude Code';

/**
 * Returns the fault when Cursor or Copilot CLI runs a hook of Claude Code, as its environment says: Copilot CLI writes the same input as
 * Claude Code. Claude Code in a terminal of Cursor, or started by a tool of Copilot CLI, says who it is. Only hooks of Copilot CLI have
 * COPILOT_PROJECT_DIR (seen in 1.0.102). The script of the hooks decides in the same way.
 */
export function refuseForeignEnv(harness: string, env: Readonly<Record<string, string | undefined>>): Fault | null {
  if (harness !== 'claude') return null;
  const { CURSOR_VERSION, COPILOT_CLI, COPILOT_PROJECT_DIR, CLAUDECODE, CLAUDE_CODE_SESSION_ID } = env;
  const isClaude = Boolean(CLAUDECODE || CLAUDE_CODE_SESSION_ID);
  const isCopilot = Boolean(COPILOT_PROJECT_DIR) || (Boolean(COPILOT_CLI) && !isClaude);
  if (isCopilot) return createHookFault(harness, `nothing is said to ${COPILOT}`);
  return CURSOR_VERSION && !isClaude ? createHookFault(harness, `nothing is said to ${CURSOR}`) : null;
}
