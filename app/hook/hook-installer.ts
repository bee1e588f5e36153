import { dirname, join } from 'node:path';
import type { Version } from '../../core/hooks/index.ts';
import { Fault } from '../../core/model/index.ts';
import type { Random } from '../../core/ports/index.ts';
import { CMD_ENDING, formatCmdScript } from './cmd-script.ts';
import { findCodexTrust, type HookTrust } from './codex-trust.ts';
import {
  checkReplaceable,
  isFile,
  isFolder,
  isProgram,
  putProgram,
  readBackup,
  readSettings,
  readSettingsText,
  removeBackup,
  removeEmptyFolders,
  removeProgram,
  removeSettings,
  replaceSettings,
  throwAlwaysChanging,
} from './harness-settings-file.node.ts';
import {
  addHooks,
  findHookEntries,
  formatHandlerKey,
  type HookEntries,
  type HookWish,
  isEmptySettings,
  listOwnHandlers,
  removeHooks,
  selectKnownEvents,
} from './hook-entries.ts';
import { formatLauncher, formatProjectLauncherName, parseLauncherPersona } from './launcher.ts';
import { findPlugin, type HookPlugin } from './plugin.node.ts';
import { makeActivityDir } from './prompts.node.ts';
import { type HarnessName, isCmdHandler, isOwnHandler, RECIPES } from './recipe.ts';
import { formatScript, parseScriptStarts, SCRIPT_NAME, type ScriptFacts } from './script.ts';
import { findTomlValue, parseToml } from './toml.ts';

export type HookScope = 'user' | 'project';

export interface HookInstallerNeeds {
  readonly random: Random;
  readonly run: string;
  /** The absolute path where the script is written. */
  readonly scriptPath: string;
  readonly script: ScriptFacts;
  readonly os: NodeJS.Platform;
  /** The absolute paths of settings of an administrator. Most machines have none. */
  readonly managed: Readonly<Partial<Record<HarnessName, readonly string[]>>>;
  /** The version of the program that would run; null: not known. Asked only where it decides which events may be in the settings. */
  readonly findVersion: (harness: HarnessName) => Version | null;
  /** Runs the command of a hook once, see `tryCommand`. */
  readonly tryCommand: (command: string) => Promise<string | null>;
  /** The absolute folder of each harness's settings. Tests give those that they use. */
  readonly folders: Readonly<Record<HookScope, Readonly<Partial<Record<HarnessName, string>>>>>;
}

export interface HookStatus extends HookEntries {
  /** The settings file. */
  readonly path: string;
  /** Whether the script that the settings name exists, and is the one that this program would write. */
  readonly script: 'right' | 'old' | 'absent';
  /**
   * What our entries run and is gone or may not be run, with the file and the key that name it. Null: all of it is there, or there
   * are no entries of ours.
   */
  readonly missing: string | null;
  /** Why the harness does not run the hooks although they are in its settings. */
  readonly obstacles: readonly string[];
  /** Null: our plugin is not installed in the harness, or is switched off there. */
  readonly plugin: HookPlugin | null;
  /** Null: the harness asks its user for no trust, or nothing of ours is in its settings. */
  readonly trust: HookTrust | null;
}

export interface HookInstaller {
  readonly scriptPath: string;
  /** Returns whether the harness has a folder of settings, and so is used here. */
  isUsed(harness: HarnessName, scope: HookScope): boolean;
  /** Checks whether `install` could work, without a change. @throws Fault `settings`, `unreadable`, `hook-settings` */
  check(harness: HarnessName, scope: HookScope): void;
  /** @returns whether anything was changed. @throws Fault as `check`, and `unwritable`, `no-space` */
  install(
    harness: HarnessName,
    scope: HookScope,
    persona: string | null,
  ): { readonly path: string; readonly changed: boolean };
  /**
   * Returns the settings file and a text with nothing but our hooks, for a person who adds them by hand. The script is written,
   * because the text names it. @throws Fault `unwritable`, `no-space`
   */
  print(
    harness: HarnessName,
    scope: HookScope,
    persona: string | null,
  ): { readonly path: string; readonly text: string };
  /** The events that are left out, because no program on PATH is known to know them. @throws Fault `settings`, `unreadable` */
  listLeftOut(harness: HarnessName, scope: HookScope): readonly string[];
  /** Whether the settings name the script of our hooks. */
  isMentioned(harness: HarnessName, scope: HookScope): boolean;
  /** Keeps the script, because another project may name it. */
  uninstall(harness: HarnessName, scope: HookScope): { readonly path: string; readonly changed: boolean };
  /**
   * Writes the script again when the Node or the program that it names is gone, or when it starts this program in an older form.
   * A script that names another copy of the program that exists is kept, because somebody put it there.
   * @returns whether it was written. @throws Fault `unreadable`, `unwritable`, `no-space`
   */
  repair(): boolean;
  /** Returns what the script names and is gone. Null when nothing is gone, or there is no script. @throws Fault `unreadable` */
  findMissing(): string | null;
  /**
   * Runs the installed command once, as the harness does: that of the settings, else that of the plugin. Returns null when it answered
   * or nothing of this program is installed, else what came instead.
   */
  probe(status: HookStatus): Promise<string | null>;
  /** @throws Fault `settings`, `unreadable` */
  readStatus(harness: HarnessName, scope: HookScope): HookStatus;
}

/** Another program may save the same settings while we change them. */
const ATTEMPTS = 5;

/** Adds our hooks to the settings of harnesses, and removes them (inbox and gates, contract 5). */
export function createInstaller(needs: HookInstallerNeeds): HookInstaller {
  const { random, run, scriptPath, script, os, managed, folders } = needs;
  const getFolder = (harness: HarnessName, scope: HookScope): string => {
    const folder = folders[scope][harness];
    if (folder === undefined) throw new RangeError(`the folder of ${harness} was not given`);
    return folder;
  };
  const getPath = (harness: HarnessName, scope: HookScope): string =>
    join(getFolder(harness, scope), RECIPES[harness].files[scope]);
  /** Null: the entries of this harness run the script itself. */
  const getLauncher = (harness: HarnessName, scope: HookScope): string | null => {
    if (!RECIPES[harness].asksForTrust) return null;
    const folder = getFolder(harness, scope);
    return scope === 'user' ? join(folder, SCRIPT_NAME) : join(dirname(scriptPath), formatProjectLauncherName(folder));
  };
  /** The file of a launcher: what cmd runs has an ending. */
  const getLauncherFile = (launcher: string): string => `${launcher}${os === 'win32' ? CMD_ENDING : ''}`;
  const createWish = (harness: HarnessName, scope: HookScope, persona: string | null): HookWish => {
    const launcher = getLauncher(harness, scope);
    const recipe = RECIPES[harness];
    const version = recipe.form.is === 'entries' ? recipe.form.version[scope] : null;
    const common = { recipe, os, path: getPath(harness, scope), version };
    return launcher === null
      ? { ...common, script: scriptPath, persona }
      : { ...common, script: launcher, olderScripts: [scriptPath], isConstant: true, persona: null };
  };

  /** With those events alone that the program knows. */
  const createSafeWish = (harness: HarnessName, scope: HookScope, persona: string | null, text: string | null) =>
    selectKnownEvents(createWish(harness, scope, persona), text, () => needs.findVersion(harness));

  function putLauncher(harness: HarnessName, scope: HookScope, persona: string | null): boolean {
    const launcher = getLauncher(harness, scope);
    if (launcher === null) return false;
    const text = formatLauncher(os, scriptPath, persona);
    const isChanged = readSettingsText(getLauncherFile(launcher)) !== text;
    putProgram(getLauncherFile(launcher), text, random);
    return isChanged;
  }

  function removeLauncher(harness: HarnessName, scope: HookScope): boolean {
    const launcher = getLauncher(harness, scope);
    if (launcher === null) return false;
    const path = getLauncherFile(launcher);
    const text = readTextOrNull(path);
    return text !== null && parseLauncherPersona(text) !== undefined && removeProgram(path);
  }

  /** The persona of the launcher, and whether it is as this program would write it. Null: there is no launcher for this harness. */
  function readLauncher(harness: HarnessName, scope: HookScope) {
    const launcher = getLauncher(harness, scope);
    if (launcher === null) return null;
    const text = readSettingsText(getLauncherFile(launcher));
    const persona = text === null ? null : (parseLauncherPersona(text) ?? null);
    const isRight = text === formatLauncher(os, scriptPath, persona);
    return { persona, script: text === null ? 'absent' : isRight ? 'right' : 'old' } as const;
  }

  function put(harness: HarnessName, scope: HookScope, persona: string | null) {
    const path = getPath(harness, scope);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const was = readSettings(path, scope === 'user', getFolder(harness, scope));
      const wish = createSafeWish(harness, scope, persona, was.text);
      const text = addHooks(was.text, wish);
      if (text === was.text) return { path, changed: false };
      // Another Hivebar keeps what was there before both.
      const isFirst = findHookEntries(was.text, wish).standing === 'absent' && was.text?.includes(SCRIPT_NAME) !== true;
      if (replaceSettings(was, text, isFirst, random)) return { path, changed: true };
    }
    return throwAlwaysChanging(path);
  }

  /** Reads the files beside the one with our hooks that may switch hooks off. */
  function readSettingsTexts(harness: HarnessName, scope: HookScope): readonly SettingsText[] {
    const own = SETTINGS_FILES[harness] ?? ['settings.json'];
    const scopes: readonly HookScope[] = scope === 'project' ? ['user', 'project'] : ['user'];
    const paths = scopes.flatMap((folderScope) => own.map((name) => join(getFolder(harness, folderScope), name)));
    const read = (isManaged: boolean) => (path: string) => {
      const text = readTextOrNull(path);
      return text === null ? [] : [{ path, text, isManaged }];
    };
    return [...(managed[harness] ?? []).flatMap(read(true)), ...paths.flatMap(read(false))];
  }

  function findBeside(harness: HarnessName, path: string): { readonly path: string; readonly text: string } | null {
    const { form } = RECIPES[harness];
    const beside = form.is === 'groups' ? form.beside : undefined;
    return beside === undefined ? null : { path: join(dirname(path), beside.path), text: beside.text };
  }

  function readPlugin(harness: HarnessName, files: readonly SettingsText[]): HookPlugin | null {
    return findPlugin(harness, { os, folder: getFolder(harness, 'user'), texts: files.map(({ text }) => text) });
  }

  /** Trust is a setting of the user, also for the hooks of a project. */
  function readTrust(harness: HarnessName, wish: HookWish, real: string, text: string | null): HookTrust | null {
    const handlers = RECIPES[harness].asksForTrust ? listOwnHandlers(text, wish) : [];
    if (handlers.length === 0) return null;
    const path = join(getFolder('codex', 'user'), 'config.toml');
    return findCodexTrust({ path, text: readTextOrNull(path) }, [...new Set([wish.path, real])], handlers, os);
  }

  function checkPlatform(harness: HarnessName): void {
    const { label, windows } = RECIPES[harness];
    if (os !== 'win32' || windows !== null) return;
    const message = `hooks of ${label} are not written for Windows: use hivebar inbox drain in the session instead`;
    throw new Fault('usage', message, { is: 'machine', key: 'hook' });
  }

  function check(harness: HarnessName, scope: HookScope): void {
    checkPlatform(harness);
    const path = getPath(harness, scope);
    const was = readSettings(path, scope === 'user', getFolder(harness, scope));
    addHooks(was.text, createSafeWish(harness, scope, null, was.text));
    checkReplaceable(was, random);
  }

  function uninstall(harness: HarnessName, scope: HookScope) {
    const { path, changed } = removeFromSettings(harness, scope);
    // Comes last, as the script comes first at an installation.
    const isLauncherRemoved = removeLauncher(harness, scope);
    return { path, changed: changed || isLauncherRemoved };
  }

  function removeFromSettings(harness: HarnessName, scope: HookScope) {
    const path = getPath(harness, scope);
    const wish = createWish(harness, scope, null);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const was = readSettings(path, scope === 'user', getFolder(harness, scope));
      if (was.text === null) return { path, changed: false };
      const before = readBackup(was);
      const text = removeHooks(was.text, wish, before);
      if (text === was.text) return { path, changed: false };
      // If there was no file before, it is removed again.
      const isNothing = before === null && isEmptySettings(text, wish);
      if (!(isNothing ? removeSettings(was) : replaceSettings(was, text, false, random))) continue;
      if (!text.includes(SCRIPT_NAME)) removeBeside(harness, path); // else another Hivebar needs it
      if (text === before) removeBackup(was); // it would say nothing more
      return { path, changed: true };
    }
    return throwAlwaysChanging(path);
  }

  /** Puts the file without which the harness does not read ours. */
  function putBeside(harness: HarnessName, path: string): void {
    const beside = findBeside(harness, path);
    if (beside !== null && readSettingsText(beside.path) !== beside.text)
      replaceSettings(readSettings(beside.path, false), beside.text, false, random);
  }

  function removeBeside(harness: HarnessName, path: string): void {
    if (RECIPES[harness].form.is === 'plugin') removeEmptyFolders([dirname(path)]);
    const beside = findBeside(harness, path);
    if (beside === null) return;
    const was = readSettings(beside.path, false);
    if (was.text === beside.text) removeSettings(was);
    removeEmptyFolders([dirname(path), dirname(beside.path)]);
  }

  /** The script for a shell, and on Windows also the one for cmd. */
  const texts: readonly (readonly [string, string])[] = [
    [scriptPath, formatScript(script)],
    ...(os === 'win32' ? [[`${scriptPath}${CMD_ENDING}`, formatCmdScript(script)] as const] : []),
  ];
  const areCurrent = (): boolean => texts.every(([path, text]) => readSettingsText(path) === text);
  const putScripts = (): void => {
    for (const [path, text] of texts) putProgram(path, text, random);
  };

  function findMissing(): string | null {
    const starts = parseScriptStarts(readSettingsText(scriptPath) ?? '');
    return starts?.find((path) => !isFile(path)) ?? null;
  }

  function findMissingProgram(harness: HarnessName, scope: HookScope, text: string | null): string | null {
    const wish = createWish(harness, scope, null);
    const handlers = listOwnHandlers(text, wish);
    if (handlers.length === 0) return null;
    for (const program of [wish.script, ...(wish.olderScripts ?? [])]) {
      const placed = handlers.find(({ value }) => isOwnHandler(value, [program]));
      const file = placed !== undefined && isCmdHandler(placed.value, program) ? `${program}${CMD_ENDING}` : program;
      if (placed === undefined || isProgram(file)) continue;
      return `${wish.path}: ${formatHandlerKey(wish.recipe, placed)} names ${formatGone(file)}`;
    }
    if (!isProgram(scriptPath)) return `${wish.script} names ${formatGone(scriptPath)}`;
    const gone = findMissing();
    return gone === null ? null : `${scriptPath} names ${formatGone(gone)}`;
  }

  return {
    scriptPath,
    findMissing,
    repair() {
      const text = readSettingsText(scriptPath);
      const starts = text === null ? null : parseScriptStarts(text);
      if (starts === null || areCurrent()) return false;
      const isOurs = starts[0] === script.node && starts[1] === script.entry;
      if (!isOurs && starts.every(isFile)) return false;
      if (!isFile(script.node) || !isFile(script.entry)) return false; // ours would be no better
      putScripts();
      return true;
    },
    check,
    uninstall,
    async probe({ command, plugin, script: scriptState }) {
      if (command !== null) return scriptState === 'right' ? await needs.tryCommand(command) : null;
      // The first session with the plugin writes the script.
      return plugin?.command == null || scriptState === 'absent' ? null : await needs.tryCommand(plugin.command);
    },
    isUsed: (harness, scope) =>
      (os !== 'win32' || RECIPES[harness].windows !== null) && isFolder(getFolder(harness, scope)),
    install(harness, scope, persona) {
      check(harness, scope);
      if (getLauncher(harness, scope) !== null) formatLauncher(os, scriptPath, persona); // before anything is written
      // Comes first, because settings that name a missing script are worse than a script that no settings name.
      putScripts();
      makeActivityDir(run);
      putBeside(harness, getPath(harness, scope));
      const isLauncherChanged = putLauncher(harness, scope, persona);
      const { path, changed } = put(harness, scope, persona);
      return { path, changed: changed || isLauncherChanged };
    },
    print(harness, scope, persona) {
      checkPlatform(harness);
      putScripts();
      makeActivityDir(run);
      putLauncher(harness, scope, persona);
      return { path: getPath(harness, scope), text: addHooks(null, createSafeWish(harness, scope, persona, null)) };
    },
    listLeftOut(harness, scope) {
      const { text } = readSettings(getPath(harness, scope), scope === 'user', getFolder(harness, scope));
      const { recipe } = createSafeWish(harness, scope, null, text);
      return Object.keys(RECIPES[harness].events).filter((name) => !Object.hasOwn(recipe.events, name));
    },
    isMentioned: (harness, scope) => readTextOrNull(getPath(harness, scope))?.includes(SCRIPT_NAME) ?? false,
    readStatus(harness, scope) {
      const path = getPath(harness, scope);
      const { text, path: real } = readSettings(path, scope === 'user', getFolder(harness, scope));
      const installedScript = readSettingsText(scriptPath);
      const wish = createSafeWish(harness, scope, null, text);
      const entries = findHookEntries(text, wish);
      const launcher = entries.standing === 'absent' ? null : readLauncher(harness, scope);
      const state = installedScript === null ? 'absent' : areCurrent() ? 'right' : 'old';
      const texts = readSettingsTexts(harness, scope);
      return {
        ...entries,
        persona: entries.persona ?? launcher?.persona ?? null,
        path,
        trust: readTrust(harness, wish, real, text),
        missing: findMissingProgram(harness, scope, text),
        obstacles: findObstacles(harness, texts),
        plugin: readPlugin(harness, texts),
        script: entries.standing === 'installed' && state === 'right' ? (launcher?.script ?? state) : state,
      };
    },
  };
}

const formatGone = (path: string): string => `${path}, which ${isFile(path) ? 'is not executable' : 'is gone'}`;

/** The files of a folder that may switch hooks off, where they are others than `settings.json`. */
const SETTINGS_FILES: Readonly<Partial<Record<HarnessName, readonly string[]>>> = {
  claude: ['settings.json', 'settings.local.json'],
  codex: ['config.toml'],
  copilot: ['settings.json', 'settings.local.json', 'hooks/hivebar.json'],
};

/** A file that cannot be read is ignored here: the harness reads it, too, and reports what is wrong. */
function readTextOrNull(path: string): string | null {
  try {
    return readSettingsText(path);
  } catch {
    return null; // see above
  }
}

/** The file with our hooks, or another settings file that the harness reads. */
interface SettingsText {
  readonly path: string;
  readonly text: string;
  /** Whether it belongs to an administrator, whose settings come before those of the user. */
  readonly isManaged: boolean;
}

/**
 * Returns why, according to these files, a harness does not run a user's hooks that are in its settings. A file that cannot be
 * parsed is ignored here.
 */
function findObstacles(harness: HarnessName, files: readonly SettingsText[]): readonly string[] {
  return OBSTACLES[harness](files);
}

const OBSTACLES: Readonly<Record<HarnessName, (files: readonly SettingsText[]) => readonly string[]>> = {
  claude: findClaudeObstacles,
  codex: (files) => files.flatMap(findCodexObstacles),
  gemini: (files) => files.flatMap(findGeminiObstacles),
  qwen: (files) => files.flatMap(findDisabled),
  copilot: (files) => files.flatMap(findDisabled),
  cursor: () => [],
  goose: (files) => files.flatMap(findGooseObstacles),
  opencode: () => [],
};

/** Of the settings of the user and a project the last one that says something decides; an administrator is asked in any case. */
function findClaudeObstacles(files: readonly SettingsText[]): readonly string[] {
  const settings = files.map((file) => ({ ...(parseObject(file.text) as ClaudeSwitches), ...file }));
  const decides = settings.findLast((file) => !file.isManaged && typeof file.disableAllHooks === 'boolean');
  return settings.flatMap((file) => [
    ...(file.disableAllHooks === true && (file.isManaged || file === decides)
      ? [`${file.path} says "disableAllHooks": true`]
      : []),
    ...(file.isManaged && file.allowManagedHooksOnly === true
      ? [`${file.path} says "allowManagedHooksOnly": true`]
      : []),
  ]);
}

interface ClaudeSwitches {
  readonly disableAllHooks?: unknown;
  readonly allowManagedHooksOnly?: unknown;
}

function findDisabled({ path, text }: SettingsText): readonly string[] {
  return parseObject(text).disableAllHooks === true ? [`${path} says "disableAllHooks": true`] : [];
}

function findGeminiObstacles({ path, text }: SettingsText): readonly string[] {
  const { hooksConfig } = parseObject(text) as { readonly hooksConfig?: { readonly enabled?: unknown } };
  return hooksConfig?.enabled === false ? [`${path} says "hooksConfig.enabled": false`] : [];
}

function findGooseObstacles({ path, text }: SettingsText): readonly string[] {
  const { disabledPlugins } = parseObject(text);
  const isDisabled = Array.isArray(disabledPlugins) && disabledPlugins.includes('hivebar');
  return isDisabled ? [`${path} has "hivebar" in "disabledPlugins"`] : [];
}

function findCodexObstacles({ path, text, isManaged }: SettingsText): readonly string[] {
  const toml = parseToml(text) ?? {};
  const switches = [
    ...['hooks', 'codex_hooks'].map((name) => ['features', name, false] as const),
    ...(isManaged ? [['allow_managed_hooks_only', null, true] as const] : []),
  ];
  return switches.flatMap(([table, name, value]) => {
    const keys = name === null ? [table] : [table, name];
    return findTomlValue(toml, ...keys) === value ? [`${path} says ${keys.join('.')} = ${value}`] : [];
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // the harness reports it itself
  }
}
