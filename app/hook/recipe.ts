import { formatCmdCommand, isCmdCommand } from './cmd-script.ts';
import { quoteShellWord } from './script.ts';

/**
 * How the settings of a harness name hooks. Both harnesses have the same form: event -> groups, each with a matcher and handlers.
 */
export interface Recipe {
  readonly harness: HarnessName;
  /** Its name for a person. */
  readonly label: string;
  /** Each event and its matcher; null when it has none. */
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
    // The last three show whether one of its agents is asking its person for something.
    events: { ...EVENTS, SessionEnd: null, PermissionRequest: null, Notification: null, SubagentStop: null },
  },
  codex: { harness: 'codex', label: 'Codex', events: EVENTS },
};

/**
 * The seconds after which the harness continues without an answer. The budget is one second, but a machine under load may need
 * more.
 */
export const HOOK_TIMEOUT_S = 10;

export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly unknown[];
}

/** Creates the entry in the settings for one event. */
export function createGroup(
  { harness, events }: Recipe,
  event: string,
  { script, persona, os }: { readonly script: string; readonly persona: string | null; readonly os: NodeJS.Platform },
): HookGroup {
  const words = [quoteShellWord(script), harness, event, ...(persona === null ? [] : [quoteShellWord(persona)])];
  // On Windows Claude Code comes with a shell, and Codex uses cmd. A harness that does not know `commandWindows` uses `command`.
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

/** Returns what a harness on this platform runs for a handler; null when it is not a handler. */
export function findCommand(os: NodeJS.Platform, handler: unknown): string | null {
  const { command, commandWindows } = (handler ?? {}) as { command?: unknown; commandWindows?: unknown };
  const meant = os === 'win32' ? (commandWindows ?? command) : command;
  return typeof meant === 'string' ? meant : null;
}

/** Returns whether a handler runs exactly this script, with any arguments. */
export function isOwnHandler(handler: unknown, script: string): boolean {
  if (typeof handler !== 'object' || handler === null || !('command' in handler)) return false;
  const { command } = handler;
  if (typeof command !== 'string') return false;
  return `${command} `.startsWith(`${quoteShellWord(script)} `) || isCmdCommand(command, script);
}

/** Returns the persona of one of our handlers, as `createGroup` wrote it; null when it names none. */
export function parseHandlerPersona(handler: unknown): string | null {
  const { command = '' } = handler as { command?: string };
  const [, word, plain] = / (?:claude|codex) [A-Za-z]+ (?:'((?:[^']|'\\'')*)'|"([^"]*)")$/.exec(command) ?? [];
  if (plain !== undefined) return plain;
  return word?.replaceAll("'\\''", "'") ?? null;
}
