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

/** An event at which nothing that a hook prints has an effect. */
export const SILENT_ROW: HarnessRow = { text: 'nothing', block: 'nothing' };

/** An agent program that runs our hooks and takes nothing from them. */
export const SILENT_ROWS: HarnessRows = {
  SessionStart: SILENT_ROW,
  UserPromptSubmit: SILENT_ROW,
  PreToolUse: SILENT_ROW,
  PostToolUse: SILENT_ROW,
  PreCompact: SILENT_ROW,
  Stop: SILENT_ROW,
  StopFailure: SILENT_ROW,
  Interrupt: SILENT_ROW,
  SessionEnd: SILENT_ROW,
  PermissionRequest: SILENT_ROW,
  Notification: SILENT_ROW,
  SubagentStop: SILENT_ROW,
};

/**
 * The replies that Codex and every version of Claude Code accept (inbox and gates, contract 5). `context` stands for
 * `hookSpecificOutput.additionalContext`. Plain stdout reaches the model at two events only; a context reaches it at each event
 * that has one.
 */
export const ROWS: HarnessRows = {
  ...SILENT_ROWS,
  SessionStart: { text: 'context', block: 'nothing' },
  UserPromptSubmit: { text: 'context', block: 'decision' },
  PreToolUse: { text: 'nothing', block: 'permission' },
  PostToolUse: { text: 'context', block: 'nothing' },
  Stop: { text: 'reason', block: 'decision' },
};

/** The JSON objects with which a harness is answered. */
export interface Dialect {
  context(event: HookEvent, text: string): object;
  /** @param event Stop, UserPromptSubmit or PreCompact */
  decision(event: HookEvent, reason: string): object;
  /** Denies a tool call. */
  permission(reason: string): object;
  /** Shows a note to the person at a Stop; null: there is no way to. */
  note(text: string): object | null;
}

export const CLAUDE_DIALECT: Dialect = {
  context: (hookEventName, additionalContext) => ({ hookSpecificOutput: { hookEventName, additionalContext } }),
  decision: (_, reason) => ({ decision: 'block', reason }),
  permission: (permissionDecisionReason) => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
  }),
  note: (systemMessage) => ({ systemMessage }),
};

export function toCarries({ text, block }: HarnessRow): Carries {
  return { text: text !== 'nothing', block: block !== 'nothing' };
}

/** Writes only the keys that the row allows: Codex's schemas are closed, and a reason must not be blank. */
export function formatRowReply(
  { text, block }: HarnessRow,
  event: HookEvent,
  answer: HookAnswer,
  dialect: Dialect = CLAUDE_DIALECT,
): HookReply {
  switch (answer.is) {
    case 'allow': {
      // At other events a note would be repeated with every call.
      const note = answer.note === null || event !== 'Stop' ? null : dialect.note(answer.note);
      return note === null ? SILENT : formatJsonReply(note);
    }
    case 'inject':
    case 'ring':
      if (text === 'nothing' || isBlank(answer.text)) return SILENT;
      return formatJsonReply(
        text === 'context' ? dialect.context(event, answer.text) : dialect.decision(event, answer.text),
      );
    case 'block':
      if (block === 'nothing' || isBlank(answer.reason)) return SILENT;
      if (block === 'context') return formatJsonReply(dialect.context(event, answer.reason));
      return formatJsonReply(
        block === 'permission' ? dialect.permission(answer.reason) : dialect.decision(event, answer.reason),
      );
  }
}

/** The reply that says nothing and stops nothing. */
export const SILENT: HookReply = { stdout: '', stderr: '', exit: 0 };

const isBlank = (text: string): boolean => text.trim() === '';

function formatJsonReply(value: object): HookReply {
  return { ...SILENT, stdout: `${JSON.stringify(value)}\n` };
}
