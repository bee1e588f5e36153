import { join } from 'node:path';
import type { Random } from '../../core/ports/index.ts';
import { makeActivityDir } from './activity.node.ts';
import { type Found, found, type Wish, withHooks, withoutHooks } from './merge.ts';
import { type HarnessName, RECIPES } from './recipe.ts';
import { type ScriptFacts, scriptText } from './script.ts';
import { isFolder, putProgram, readSettings, replaceSettings, settled, textOf } from './settings-file.node.ts';

export type Reach = 'user' | 'project';

export interface InstallerNeeds {
  readonly random: Random;
  readonly run: string;
  /** Where the script is put, absolute. */
  readonly scriptPath: string;
  readonly script: ScriptFacts;
  /** The folder of each harness's settings, absolute. */
  readonly folders: Readonly<Record<Reach, Readonly<Record<HarnessName, string>>>>;
}

export interface Looked extends Found {
  /** The settings file. */
  readonly path: string;
  /** The script that the settings name is there, and is what this program would write. */
  readonly script: 'right' | 'old' | 'absent';
}

export interface Installer {
  readonly scriptPath: string;
  /** The harness has a folder of settings: it is used here. */
  isUsed(harness: HarnessName, reach: Reach): boolean;
  /** @returns whether anything was to be done. @throws Fault `settings`, `unreadable`, `unwritable`, `no-space` */
  install(
    harness: HarnessName,
    reach: Reach,
    persona: string | null,
  ): { readonly path: string; readonly changed: boolean };
  /** The script stays: another project may name it. */
  uninstall(harness: HarnessName, reach: Reach): { readonly path: string; readonly changed: boolean };
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
export function createInstaller({ random, run, scriptPath, script, folders }: InstallerNeeds): Installer {
  const pathOf = (harness: HarnessName, reach: Reach): string => join(folders[reach][harness], FILES[reach][harness]);
  const wishOf = (harness: HarnessName, path: string, persona: string | null): Wish => ({
    recipe: RECIPES[harness],
    script: scriptPath,
    persona,
    path,
  });

  function change(
    harness: HarnessName,
    reach: Reach,
    persona: string | null,
    next: (text: string | null, wish: Wish) => string | null,
  ) {
    const path = pathOf(harness, reach);
    const wish = wishOf(harness, path, persona);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const was = readSettings(path, reach === 'user');
      const text = next(was.text, wish);
      if (text === null || text === was.text) return { path, changed: false };
      const isFirst = found(was.text, wish).standing === 'absent';
      if (replaceSettings(was, text, isFirst, random)) return { path, changed: true };
    }
    return settled(path);
  }

  return {
    scriptPath,
    isUsed: (harness, reach) => isFolder(folders[reach][harness]),
    install(harness, reach, persona) {
      // First: settings that name a script which is not there would be worse than a script that nobody names.
      putProgram(scriptPath, scriptText(script), random);
      makeActivityDir(run);
      return change(harness, reach, persona, withHooks);
    },
    uninstall: (harness, reach) =>
      change(harness, reach, null, (text, wish) => (text === null ? null : withoutHooks(text, wish))),
    look(harness, reach) {
      const path = pathOf(harness, reach);
      const { text } = readSettings(path, reach === 'user');
      const there = textOf(scriptPath);
      return {
        ...found(text, wishOf(harness, path, null)),
        path,
        script: there === null ? 'absent' : there === scriptText(script) ? 'right' : 'old',
      };
    },
  };
}
