import type { HookEvent } from './event.ts';
import type { Answer, Carries, Reply } from './harness.ts';

/** What a harness accepts at one event. */
export interface Row {
  /** How a text reaches the model. `reason`: only as that of a block, which lets the turn go on. */
  readonly text: 'nothing' | 'context' | 'reason';
  /** How something is stopped: `decision` and `reason`, the permission of a tool call, or a context that lets the turn go on. */
  readonly block: 'nothing' | 'decision' | 'permission' | 'context';
}

export type Rows = Readonly<Record<HookEvent, Row>>;

/**
 * What Claude Code of any version and Codex accept alike (inbox and gates, contract 5). `context` is
 * `hookSpecificOutput.additionalContext`: plain stdout is seen at two events only, this at each that has it.
 */
export const ROWS: Rows = {
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

export function carriesBy({ text, block }: Row): Carries {
  return { text: text !== 'nothing', block: block !== 'nothing' };
}

/** Nothing but keys that the row says: Codex's schemas are closed, and a reason may not be blank. */
export function replyBy({ text, block }: Row, event: HookEvent, answer: Answer): Reply {
  switch (answer.is) {
    case 'allow':
      // Elsewhere a note would come again with every call.
      return answer.note === null || event !== 'Stop' ? SILENT : json({ systemMessage: answer.note });
    case 'inject':
    case 'ring':
      if (text === 'nothing' || isBlank(answer.text)) return SILENT;
      return text === 'context' ? context(event, answer.text) : json({ decision: 'block', reason: answer.text });
    case 'block':
      if (block === 'nothing' || isBlank(answer.reason)) return SILENT;
      if (block === 'context') return context(event, answer.reason);
      return block === 'permission' ? deny(answer.reason) : json({ decision: 'block', reason: answer.reason });
  }
}

/** Nothing is said and nothing is stopped. */
const SILENT: Reply = { stdout: '', stderr: '', exit: 0 };

const isBlank = (text: string): boolean => text.trim() === '';

function context(hookEventName: HookEvent, additionalContext: string): Reply {
  return json({ hookSpecificOutput: { hookEventName, additionalContext } });
}

function deny(permissionDecisionReason: string): Reply {
  const hookEventName = 'PreToolUse';
  return json({ hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason } });
}

function json(value: Readonly<Record<string, unknown>>): Reply {
  return { ...SILENT, stdout: `${JSON.stringify(value)}\n` };
}
