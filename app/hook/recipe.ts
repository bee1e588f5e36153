import { formatCmdCommand, isCmdCommand } from './cmd-script.ts';
import { quoteShellWord } from './script.ts';

/** How a harness is told of hooks. Both have the same form: event -> groups, each with a matcher and handlers. */
export interface Recipe {
  readonly harness: HarnessName;
  /** Its name, as a person knows it. */
  readonly label: string;
  /** Each event, and the matcher it wants; null: it wants none. */
  readonly events: Readonly<Record<string, string | null>>;
}

export const HARNESSES = ['claude', 'codex'] as const;
export type HarnessName = (typeof HARNESSES)[number];

const EVENTS = {
  SessionStart: null,
  UserPromptSubmit: null,
  PreToolUse: '*',
  PostToolUse: '*',
  PreCompact: null,
  Stop: null,
};

export const RECIPES: Readonly<Record<HarnessName, Recipe>> = {
  claude: {
    harness: 'claude',
    label: 'Claude Code',
    // The last three say whether one of its agents asks its person for something.
    events: { ...EVENTS, SessionEnd: null, PermissionRequest: null, Notification: null, SubagentStop: null },
  },
  codex: { harness: 'codex', label: 'Codex', events: EVENTS },
};

/** Seconds after which the harness goes on without an answer. The budget is one; a machine under load may take more. */
export const HOOK_TIMEOUT_S = 10;

export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly unknown[];
}

/** What stands in the settings for one event. */
export function createGroup(
  { harness, events }: Recipe,
  event: string,
  { script, persona, os }: { readonly script: string; readonly persona: string | null; readonly os: NodeJS.Platform },
): HookGroup {
  const words = [quoteShellWord(script), harness, event, ...(persona === null ? [] : [quoteShellWord(persona)])];
  // On Windows Claude Code has a shell with it, Codex has cmd. One that knows no `commandWindows` takes the other.
  const windows = os === 'win32' && harness === 'codex' ? formatCmdCommand(script, harness, event, persona) : null;
  const command = windows ?? words.join(' ');
  const handler = {
    ...{ type: 'command', command },
    ...(windows === null ? {} : { commandWindows: windows }),
    timeout: HOOK_TIMEOUT_S,
  };
  const matcher = events[event] ?? null;
  return { ...(matcher === null ? {} : { matcher }), hooks: [handler] };
}

/** What a harness on this platform runs for a handler; null: it is none. */
export function findCommand(os: NodeJS.Platform, handler: unknown): string | null {
  const { command, commandWindows } = (handler ?? {}) as { command?: unknown; commandWindows?: unknown };
  const meant = os === 'win32' ? (commandWindows ?? command) : command;
  return typeof meant === 'string' ? meant : null;
}

/** Whether a handler runs this very script, whatever comes after it. */
export function isOwnHandler(handler: unknown, script: string): boolean {
  if (typeof handler !== 'object' || handler === null || !('command' in handler)) return false;
  const { command } = handler;
  if (typeof command !== 'string') return false;
  return `${command} `.startsWith(`${quoteShellWord(script)} `) || isCmdCommand(command, script);
}

/** Whom a handler of ours is for, as `createGroup` wrote it; null: it does not say. */
export function parseHandlerPersona(handler: unknown): string | null {
  const { command = '' } = handler as { command?: string };
  const [, word, plain] = / (?:claude|codex) [A-Za-z]+ (?:'((?:[^']|'\\'')*)'|"([^"]*)")$/.exec(command) ?? [];
  if (plain !== undefined) return plain;
  return word?.replaceAll("'\\''", "'") ?? null;
}
