import {
  HARNESS_MODULES,
  HARNESS_NAMES,
  type HarnessName,
  type HarnessSetup,
  type HookSlot,
} from '../../core/hooks/index.ts';
import { quoteShellWord } from './script.ts';
import { formatCmdCommand, isCmdCommand } from './windows-command.ts';

export { HARNESS_NAMES as HARNESSES, type HarnessName } from '../../core/hooks/index.ts';

/** What the installer needs to know of a harness, from its row in the registry. */
export interface Recipe extends HarnessSetup {
  readonly harness: HarnessName;
  /** Its name for a person. */
  readonly label: string;
}

const toRecipe = (harness: HarnessName): Recipe => {
  const { label, setup } = HARNESS_MODULES[harness];
  return { harness, label, ...setup };
};

export const RECIPES = Object.fromEntries(HARNESS_NAMES.map((name) => [name, toRecipe(name)])) as Readonly<
  Record<HarnessName, Recipe>
>;

/** The seconds after which Claude Code ends a waiter: a week. Its timers end at 24 days. */
const WAITER_TIMEOUT_S = 604_800;
/** The event that the script gets when it shall wait. */
const WAIT = 'Wait';

export interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly unknown[];
}

/** What stands in the list of one event: the handler, and the group around it where the settings have groups. */
export interface SettingsEntry {
  readonly handler: object;
  readonly item: HookGroup | object;
  readonly matcher: string | null;
}

interface HandlerWish {
  readonly script: string;
  readonly persona: string | null;
  readonly os: NodeJS.Platform;
}

/** Creates the entries in the settings for one event: the hook, and the waiter where one begins. @param name the harness's name of the event */
export function createEntries(recipe: Recipe, name: string, wish: HandlerWish): readonly SettingsEntry[] {
  const { harness, events, timeout: usual, form, waits = [], windows } = recipe;
  const { os } = wish;
  const { event, matcher, timeout = usual } = findSlot(events, name);
  const command = formatCommand(recipe, event, wish);
  const isWindows = os === 'win32';
  if (form.is === 'entries') {
    const isPowerShell = isWindows && windows?.shell === 'powershell';
    const handler = form.formatEntry({ command, isPowerShell, timeout, matcher });
    return [{ handler, item: handler, matcher }];
  }
  const handler = {
    ...{ type: 'command', command },
    // A Codex that does not know `commandWindows` uses `command`.
    ...(isWindows && harness === 'codex' ? { commandWindows: command } : {}),
    ...(isWindows ? windows?.extra : {}),
    timeout,
  };
  const entry = { handler, item: { ...(matcher === null ? {} : { matcher }), hooks: [handler] }, matcher };
  // There are no named pipes for a shell on Windows.
  if (!waits.includes(name) || isWindows) return [entry];
  // `async` as well, because versions without `asyncRewake`, and `claude -p`, would wait for its end.
  const wait = formatCommand(recipe, WAIT, wish);
  const waiter = { type: 'command', command: wait, async: true, asyncRewake: true, timeout: WAITER_TIMEOUT_S };
  return [entry, { handler: waiter, item: { hooks: [waiter] }, matcher: null }];
}

function formatCommand({ harness, windows }: Recipe, event: string, { script, persona, os }: HandlerWish): string {
  const shell = windows?.shell ?? 'sh';
  if (os === 'win32' && shell !== 'sh') return formatCmdCommand(shell, { script, harness, event, persona });
  return [quoteShellWord(script), harness, event, ...(persona === null ? [] : [quoteShellWord(persona)])].join(' ');
}

function findSlot(events: Recipe['events'], name: string): HookSlot {
  const slot = Object.hasOwn(events, name) ? events[name] : undefined;
  if (slot === undefined) throw new RangeError(`no recipe has the event ${name}`);
  return slot;
}

/** Returns what a harness on this platform runs for a handler; null when it is not a handler. */
export function findCommand(os: NodeJS.Platform, handler: unknown): string | null {
  const { command, commandWindows, powershell } = (handler ?? {}) as Readonly<Record<string, unknown>>;
  const meant = os === 'win32' ? (commandWindows ?? powershell ?? command) : command;
  return typeof meant === 'string' ? meant : null;
}

/** The command of a handler as its settings have it, under whichever key. */
function readCommand(handler: unknown): string | null {
  return findCommand('linux', handler) ?? findCommand('win32', handler);
}

/** Returns whether a handler runs exactly one of these scripts, with any arguments. */
export function isOwnHandler(handler: unknown, scripts: readonly string[]): boolean {
  const command = readCommand(handler);
  if (command === null) return false;
  return scripts.some(
    (script) => `${command} `.startsWith(`${quoteShellWord(script)} `) || isCmdCommand(command, script),
  );
}

/** Returns whether a handler of ours runs the script for cmd. */
export function isCmdHandler(handler: unknown, script: string): boolean {
  return isCmdCommand(readCommand(handler) ?? '', script);
}

/** Returns the persona of one of our handlers, as `createEntries` wrote it; null when it names none. */
export function parseHandlerPersona(handler: unknown): string | null {
  const command = readCommand(handler) ?? '';
  const [, word, quoted, bare] = / [a-z]+ [A-Za-z]+ (?:'((?:[^']|'\\'')*)'|"([^"]*)"|([\w.-]+))$/.exec(command) ?? [];
  if (quoted !== undefined || bare !== undefined) return quoted ?? bare ?? null;
  return word?.replaceAll("'\\''", "'") ?? null;
}
