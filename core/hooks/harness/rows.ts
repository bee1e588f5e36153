import type { Carries, HookAnswer, HookEvent, HookReply } from './harness.ts';

/** The replies that a harness accepts at one event. */
export interface HarnessRow {
  /** How a text reaches the model. `reason`: only as the reason of a block, which lets the turn go on. */
  readonly text: 'nothing' | 'context' | 'reason';
  /**
   * How a hook stops something: `decision` and `reason`, the permission of a tool call, or a context that lets the turn go on.
   */
  readonly block: 'nothing' | 'decision' | 'permission' | 'context';
}

export type HarnessRows = Readonly<Record<HookEvent, HarnessRow>>;

/**
 * The replies that Codex and every version of Claude Code accept (inbox and gates, contract 5). `context` stands for
 * `hookSpecificOutput.additionalContext`. Plain stdout reaches the model at two events only; a context reaches it at each event
 * that has one.
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

/** Writes only the keys that the row allows: Codex's schemas are closed, and a reason must not be blank. */
export function formatRowReply({ text, block }: HarnessRow, event: HookEvent, answer: HookAnswer): HookReply {
  switch (answer.is) {
    case 'allow':
      // At other events a note would be repeated with every call.
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

/** The reply that says nothing and stops nothing. */
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
