import { join } from 'node:path';
import type { Random } from '../../core/ports/index.ts';
import { makeActivityDir } from './activity.node.ts';
import { CMD_ENDING, cmdScriptText } from './cmd-script.ts';
import { type Found, found, type Wish, withHooks, withoutHooks } from './merge.ts';
import { findObstacles, type SettingsText } from './obstacles.ts';
import { type HarnessName, RECIPES } from './recipe.ts';
import { type ScriptFacts, scriptText, startsIn } from './script.ts';
import {
  backupOf,
  checkReplaceable,
  isFile,
  isFolder,
  putProgram,
  readSettings,
  removeSettings,
  replaceSettings,
  settled,
  textOf,
} from './settings-file.node.ts';

export type Reach = 'user' | 'project';

export interface InstallerNeeds {
  readonly random: Random;
  readonly run: string;
  /** Where the script is put, absolute. */
  readonly scriptPath: string;
  readonly script: ScriptFacts;
  readonly os: NodeJS.Platform;
  /** Settings of an administrator, absolute; most machines have none. */
  readonly managed: Readonly<Record<HarnessName, readonly string[]>>;
  /** Runs a command of a hook once, see `tryCommand`. */
  readonly tryCommand: (command: string) => Promise<string | null>;
  /** The folder of each harness's settings, absolute. */
  readonly folders: Readonly<Record<Reach, Readonly<Record<HarnessName, string>>>>;
}

export interface Looked extends Found {
  /** The settings file. */
  readonly path: string;
  /** The script that the settings name is there, and is what this program would write. */
  readonly script: 'right' | 'old' | 'absent';
  /** Why the harness will not run them although they are there, as its settings say it. */
  readonly obstacles: readonly string[];
}

export interface Installer {
  readonly scriptPath: string;
  /** The harness has a folder of settings: it is used here. */
  isUsed(harness: HarnessName, reach: Reach): boolean;
  /** Whether `install` could do its work; nothing is changed. @throws Fault `settings`, `unreadable`, `hook-settings` */
  check(harness: HarnessName, reach: Reach): void;
  /** @returns whether anything was to be done. @throws Fault as `check`, and `unwritable`, `no-space` */
  install(
    harness: HarnessName,
    reach: Reach,
    persona: string | null,
  ): { readonly path: string; readonly changed: boolean };
  /** The script stays: another project may name it. */
  uninstall(harness: HarnessName, reach: Reach): { readonly path: string; readonly changed: boolean };
  /**
   * Writes the script anew where what it asks is gone, or where it asks this very program in an older form. One that asks another
   * copy of the program, which is there, is left: somebody put it there.
   * @returns whether it was written. @throws Fault `unreadable`, `unwritable`, `no-space`
   */
  repair(): boolean;
  /** What the script asks and is not there any more; null: all of it is, or there is no script. @throws Fault `unreadable` */
  findGone(): string | null;
  /** Runs what is installed once, as the harness does. Null: it answered, or nothing of this program is installed; else what came. */
  probe(look: Looked): Promise<string | null>;
  /** @throws Fault `settings`, `unreadable` */
  look(harness: HarnessName, reach: Reach): Looked;
}

/**
 * The settings of a project that are this user's alone: a script's path on this machine is nothing for the others, who
 * share `settings.json`.
 */
const FILES: Readonly<Record<Reach, Readonly<Record<HarnessName, string>>>> = {
  user: { claude: 'settings.json', codex: 'hooks.json' },
  project: { claude: 'settings.local.json', codex: 'hooks.json' },
};

/** Somebody may save the same settings while we change them. */
const ATTEMPTS = 5;

/** Puts our hooks into the settings of harnesses, and takes them out again (inbox and gates, contract 5). */
export function createInstaller(needs: InstallerNeeds): Installer {
  const { random, run, scriptPath, script, os, managed, folders } = needs;
  const pathOf = (harness: HarnessName, reach: Reach): string => join(folders[reach][harness], FILES[reach][harness]);
  const wishOf = (harness: HarnessName, path: string, persona: string | null): Wish => ({
    recipe: RECIPES[harness],
    script: scriptPath,
    os,
    persona,
    path,
  });

  function put(harness: HarnessName, reach: Reach, persona: string | null) {
    const path = pathOf(harness, reach);
    const wish = wishOf(harness, path, persona);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const was = readSettings(path, reach === 'user');
      const text = withHooks(was.text, wish);
      if (text === was.text) return { path, changed: false };
      const isFirst = found(was.text, wish).standing === 'absent';
      if (replaceSettings(was, text, isFirst, random)) return { path, changed: true };
    }
    return settled(path);
  }

  /** Files beside the one with our hooks that may switch hooks off. */
  function textsFor(harness: HarnessName, reach: Reach): readonly SettingsText[] {
    const own = harness === 'codex' ? ['config.toml'] : ['settings.json', 'settings.local.json'];
    const reaches: readonly Reach[] = reach === 'project' ? ['user', 'project'] : ['user'];
    const paths = reaches.flatMap((one) => own.map((name) => join(folders[one][harness], name)));
    const read = (isManaged: boolean) => (path: string) => {
      const text = textOr(path);
      return text === null ? [] : [{ path, text, isManaged }];
    };
    return [...managed[harness].flatMap(read(true)), ...paths.flatMap(read(false))];
  }

  function check(harness: HarnessName, reach: Reach): void {
    const path = pathOf(harness, reach);
    const was = readSettings(path, reach === 'user');
    found(was.text, wishOf(harness, path, null));
    checkReplaceable(was, random);
  }

  function uninstall(harness: HarnessName, reach: Reach) {
    const path = pathOf(harness, reach);
    const wish = wishOf(harness, path, null);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const was = readSettings(path, reach === 'user');
      if (was.text === null) return { path, changed: false };
      const before = backupOf(was);
      const text = withoutHooks(was.text, wish, before);
      if (text === was.text) return { path, changed: false };
      // Where no file was there is none again.
      const isNothing = before === null && /^\s*\{\s*\}\s*$/.test(text);
      if (isNothing ? removeSettings(was) : replaceSettings(was, text, false, random)) return { path, changed: true };
    }
    return settled(path);
  }

  /** The script for a shell, and on Windows the one for cmd. */
  const texts: readonly (readonly [string, string])[] = [
    [scriptPath, scriptText(script)],
    ...(os === 'win32' ? [[`${scriptPath}${CMD_ENDING}`, cmdScriptText(script)] as const] : []),
  ];
  const areRight = (): boolean => texts.every(([path, text]) => textOf(path) === text);
  const putScripts = (): void => {
    for (const [path, text] of texts) putProgram(path, text, random);
  };

  function findGone(): string | null {
    const starts = startsIn(textOf(scriptPath) ?? '');
    return starts?.find((path) => !isFile(path)) ?? null;
  }

  return {
    scriptPath,
    findGone,
    repair() {
      const text = textOf(scriptPath);
      const starts = text === null ? null : startsIn(text);
      if (starts === null || areRight()) return false;
      const isOurs = starts[0] === script.node && starts[1] === script.entry;
      if (!isOurs && starts.every(isFile)) return false;
      if (!isFile(script.node) || !isFile(script.entry)) return false; // ours would be no better
      putScripts();
      return true;
    },
    check,
    uninstall,
    probe: async ({ command, script: standing }) =>
      command === null || standing !== 'right' ? null : await needs.tryCommand(command),
    isUsed: (harness, reach) => isFolder(folders[reach][harness]),
    install(harness, reach, persona) {
      check(harness, reach);
      // First: settings that name a script which is not there would be worse than a script that nobody names.
      putScripts();
      makeActivityDir(run);
      return put(harness, reach, persona);
    },
    look(harness, reach) {
      const path = pathOf(harness, reach);
      const { text } = readSettings(path, reach === 'user');
      const there = textOf(scriptPath);
      return {
        ...found(text, wishOf(harness, path, null)),
        path,
        obstacles: findObstacles(harness, textsFor(harness, reach)),
        script: there === null ? 'absent' : areRight() ? 'right' : 'old',
      };
    },
  };
}

/** A file that cannot be read says nothing: the harness, which reads it too, says what is wrong with it. */
function textOr(path: string): string | null {
  try {
    return textOf(path);
  } catch {
    return null; // see above
  }
}
