import {
  HARNESS_MODULES,
  HARNESS_NAMES,
  type HarnessName,
  type HarnessSetup,
  type HookSlot,
} from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import { IS_NEW_NODE, quoteShellWord, type ScriptFacts } from './script.ts';

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
  const { harness, events, timeout: usual, form, waits = [] } = recipe;
  const { script, persona, os } = wish;
  const { event, matcher, timeout = usual } = findSlot(events, name);
  // On Windows Claude Code comes with a shell, and Codex uses cmd. A harness that does not know `commandWindows` uses `command`.
  const windows = os === 'win32' && harness === 'codex' ? formatCmdCommand(script, harness, event, persona) : null;
  if (form.is === 'entries') {
    const handler = form.formatEntry({ command: formatCommand(recipe, event, wish), timeout, matcher });
    return [{ handler, item: handler, matcher }];
  }
  const handler = {
    ...{ type: 'command', command: windows ?? formatCommand(recipe, event, wish) },
    ...(windows === null ? {} : { commandWindows: windows }),
    timeout,
  };
  const entry = { handler, item: { ...(matcher === null ? {} : { matcher }), hooks: [handler] }, matcher };
  // There are no named pipes for a shell on Windows.
  if (!waits.includes(name) || os === 'win32') return [entry];
  // `async` as well, because versions without `asyncRewake`, and `claude -p`, would wait for its end.
  const command = formatCommand(recipe, WAIT, wish);
  const waiter = { type: 'command', command, async: true, asyncRewake: true, timeout: WAITER_TIMEOUT_S };
  return [entry, { handler: waiter, item: { hooks: [waiter] }, matcher: null }];
}

function formatCommand({ harness }: Recipe, event: string, { script, persona }: HandlerWish): string {
  return [quoteShellWord(script), harness, event, ...(persona === null ? [] : [quoteShellWord(persona)])].join(' ');
}

function findSlot(events: Recipe['events'], name: string): HookSlot {
  const slot = Object.hasOwn(events, name) ? events[name] : undefined;
  if (slot === undefined) throw new RangeError(`no recipe has the event ${name}`);
  return slot;
}

/** Returns what a harness on this platform runs for a handler; null when it is not a handler. */
export function findCommand(os: NodeJS.Platform, handler: unknown): string | null {
  const { command, commandWindows } = (handler ?? {}) as { command?: unknown; commandWindows?: unknown };
  const meant = os === 'win32' ? (commandWindows ?? command) : command;
  return typeof meant === 'string' ? meant : null;
}

/** Returns whether a handler runs exactly one of these scripts, with any arguments. */
export function isOwnHandler(handler: unknown, scripts: readonly string[]): boolean {
  if (typeof handler !== 'object' || handler === null || !('command' in handler)) return false;
  const { command } = handler;
  if (typeof command !== 'string') return false;
  return scripts.some(
    (script) => `${command} `.startsWith(`${quoteShellWord(script)} `) || isCmdCommand(command, script),
  );
}

/** Whether cmd runs this handler of ours. */
export function isCmdHandler(handler: unknown): boolean {
  return (handler as { command?: string }).command?.startsWith('call "') === true;
}

/** Returns the persona of one of our handlers, as `createEntries` wrote it; null when it names none. */
export function parseHandlerPersona(handler: unknown): string | null {
  const { command = '' } = handler as { command?: string };
  const [, word, plain] = / [a-z]+ [A-Za-z]+ (?:'((?:[^']|'\\'')*)'|"([^"]*)")$/.exec(command) ?? [];
  if (plain !== undefined) return plain;
  return word?.replaceAll("'\\''", "'") ?? null;
}

/** The ending that is added to the path of the shell script, for a harness that runs hooks with cmd. */
export const CMD_ENDING = '.cmd';

/**
 * Formats the hook for a harness that runs commands with cmd, as Codex does on Windows. It finds Node as the shell script does,
 * and starts the program at every event, since cmd needs as long to read stamps. A failure ends with 0.
 *
 * The arguments are `HARNESS EVENT [PERSONA]`, and the input of the harness is on stdin.
 */
export function formatCmdScript({ node, otherNodes, entry, state, leads }: ScriptFacts): string {
  const paths = [node, entry, state, ...otherNodes, ...Object.values(leads)];
  // cmd reads a file in the code page of the console, which depends on the country.
  const isAscii = paths.every((path) => /^[\x20-\x7e]*$/.test(path));
  return [
    '@echo off',
    'rem Hivebar hook, form 2. hivebar hook install writes it anew.',
    'setlocal DisableDelayedExpansion',
    ...(isAscii ? [] : ['chcp 65001 >nul']),
    formatSet('NODE', node),
    formatSet('ENTRY', entry),
    'if exist "%NODE%" goto known',
    ...otherNodes.map((path) => `if not exist "%NODE%" ${formatSet('NODE', path)}`),
    'if not exist "%NODE%" for %%N in (node.exe) do set "NODE=%%~$PATH:N"',
    'if "%NODE%"=="" goto gone',
    'if not exist "%NODE%" goto gone',
    `"%NODE%" -e "${IS_NEW_NODE}" <nul >nul 2>nul`,
    'if errorlevel 1 goto gone',
    'goto known',
    ':known',
    'if not exist "%ENTRY%" goto gone',
    // With another value the variable points to another Hivebar, which is started then.
    ...Object.entries(leads)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `if "%${name}%"=="" ${formatSet(name, value)}`),
    'if /i not "%~1"=="codex" if not "%~3"=="" if "%HIVEBAR_PERSONA%"=="" set "HIVEBAR_PERSONA=%~3"',
    'if /i "%~1"=="codex" if not "%~3"=="" goto named',
    '"%NODE%" "%ENTRY%" hook --harness %~1 --event %~2',
    'exit /b 0',
    ':named',
    '"%NODE%" "%ENTRY%" hook --harness %~1 --event %~2 --persona "%~3"',
    'exit /b 0',
    ':gone',
    `if /i "%~2"=="SessionStart" echo ${NOT_FOUND_MESSAGE}`,
    'exit /b 0',
    '',
  ].join('\r\n');
}

const NOT_FOUND_MESSAGE =
  '{"systemMessage":"hivebar: Hivebar is not found by its hook, because Node or Hivebar was moved or removed: run hivebar hook install."}';

/** In a cmd file a percent sign must be doubled. */
export function formatSet(name: string, value: string): string {
  if (/[\p{Cc}"]/u.test(value)) throw new RangeError(`${JSON.stringify(value)} has a quote or a control character`);
  return `set "${name}=${value.replaceAll('%', '%%')}"`;
}

/** @throws Fault `usage` for a persona that cmd would change */
export function requireCmdPersona(persona: string): string {
  if (/^[\p{L}\p{N} ._@~+-]+$/u.test(persona)) return persona;
  throw new Fault(
    'usage',
    `--persona ${JSON.stringify(persona)} cannot stand in a command line of cmd: leave it out, and set HIVEBAR_PERSONA`,
    { is: 'machine', key: 'hook' },
  );
}

/**
 * Formats the command line for cmd. It begins with `call`, because cmd removes the first and the last quote of a line that begins
 * with a quote and has more than two.
 * @throws Fault `usage` for a persona that cmd would change
 */
export function formatCmdCommand(script: string, harness: string, event: string, persona: string | null): string {
  return [
    `call "${script}${CMD_ENDING}"`,
    harness,
    event,
    ...(persona === null ? [] : [`"${requireCmdPersona(persona)}"`]),
  ].join(' ');
}

/** Returns whether a command line runs exactly this script with cmd. */
function isCmdCommand(command: string, script: string): boolean {
  return `${command} `.startsWith(`call "${script}${CMD_ENDING}" `);
}
