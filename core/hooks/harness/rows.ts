import type { HookEvent } from './event.ts';
import type { Carries, HookAnswer, HookReply } from './harness.ts';

/** What a harness accepts at one event. */
export interface HarnessRow {
  /** How a text reaches the model. `reason`: only as that of a block, which lets the turn go on. */
  readonly text: 'nothing' | 'context' | 'reason';
  /** How something is stopped: `decision` and `reason`, the permission of a tool call, or a context that lets the turn go on. */
  readonly block: 'nothing' | 'decision' | 'permission' | 'context';
}

export type HarnessRows = Readonly<Record<HookEvent, HarnessRow>>;

/**
 * What Claude Code of any version and Codex accept alike (inbox and gates, contract 5). `context` is
 * `hookSpecificOutput.additionalContext`: plain stdout is seen at two events only, this at each that has it.
 */
export const ROWS: HarnessRows = {
  SessionStart: { text: 'context', block: 'nothing' },
  UserPromptSubmit: { text: 'context', block: 'decision' },
  PreToolUse: { text: 'nothing', block: 'permission' },
  PostToolUse: { text: 'context', block: 'nothing' },
  PreCompact: { text: 'nothing', block: 'nothing' },
  Stop: { text: 'reason', block: 'decision' },
  StopFailure: { text: 'nothing', block: 'nothing' },
  SessionEnd: { text: 'nothing', block: 'nothing' },
  PermissionRequest: { text: 'nothing', block: 'nothing' },
  Notification: { text: 'nothing', block: 'nothing' },
  SubagentStop: { text: 'nothing', block: 'nothing' },
};

export function toCarries({ text, block }: HarnessRow): Carries {
  return { text: text !== 'nothing', block: block !== 'nothing' };
}

/** Nothing but keys that the row says: Codex's schemas are closed, and a reason may not be blank. */
export function formatRowReply({ text, block }: HarnessRow, event: HookEvent, answer: HookAnswer): HookReply {
  switch (answer.is) {
    case 'allow':
      // Elsewhere a note would come again with every call.
      return answer.note === null || event !== 'Stop' ? SILENT : formatJsonReply({ systemMessage: answer.note });
    case 'inject':
    case 'ring':
      if (text === 'nothing' || isBlank(answer.text)) return SILENT;
      return text === 'context'
        ? formatContext(event, answer.text)
        : formatJsonReply({ decision: 'block', reason: answer.text });
    case 'block':
      if (block === 'nothing' || isBlank(answer.reason)) return SILENT;
      if (block === 'context') return formatContext(event, answer.reason);
      return block === 'permission'
        ? formatDenial(answer.reason)
        : formatJsonReply({ decision: 'block', reason: answer.reason });
  }
}

/** Nothing is said and nothing is stopped. */
const SILENT: HookReply = { stdout: '', stderr: '', exit: 0 };

const isBlank = (text: string): boolean => text.trim() === '';

function formatContext(hookEventName: HookEvent, additionalContext: string): HookReply {
  return formatJsonReply({ hookSpecificOutput: { hookEventName, additionalContext } });
}

function formatDenial(permissionDecisionReason: string): HookReply {
  const hookEventName = 'PreToolUse';
  return formatJsonReply({
    hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason },
  });
}

function formatJsonReply(value: Readonly<Record<string, unknown>>): HookReply {
  return { ...SILENT, stdout: `${JSON.stringify(value)}\n` };
}
