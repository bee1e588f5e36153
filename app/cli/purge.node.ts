import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import { SOURCE_LIST } from '../../core/sources/derived.ts';
import { findCacheHome, findOwnDirs } from '../../core/state/index.ts';

/** What Hivebar keeps in its directory for state (docs/contract/files.md). A folder that a person named may hold other things too. */
const OWN_FILE = /^((hivebar|history|search)\.sqlite|hivebar\.log|outbox\.journal|devices\.json|logon-task\.xml)/;
const OWN_FOLDERS: ReadonlySet<string> = new Set([
  ...['config', 'daemons', 'events', 'follow', 'gates', 'headless', 'hook', 'hooks', 'inject-queue', 'run'],
  ...SOURCE_LIST.map(({ name }) => name),
]);

/** What a purge removes, and what it leaves alone. */
export interface PurgePlan {
  readonly goes: readonly string[];
  readonly stays: readonly string[];
}

/**
 * Lists everything that Hivebar stores: its own directories as a whole. Of a HIVEBAR_HOME, which may be any folder, only what is
 * Hivebar's own, and without the cache, which HIVEBAR_HOME does not move.
 */
export function planPurge({ env }: Pick<Io, 'env'>): PurgePlan {
  const { state, run, config } = findOwnDirs({ ...env });
  if (!env.HIVEBAR_HOME)
    return { goes: [state, run, config, join(findCacheHome(), 'hivebar')].filter(isThere), stays: [] };
  const isOwn = (name: string): boolean => OWN_FILE.test(name) || OWN_FOLDERS.has(name);
  const names = listNames(state);
  return {
    goes: names.filter(isOwn).map((name) => join(state, name)),
    stays: names.filter((name) => !isOwn(name)).map((name) => join(state, name)),
  };
}

/** Removes what is planned, and the folder of HIVEBAR_HOME when it is empty then. @throws the error of the file system */
export function purge({ goes, stays }: PurgePlan): void {
  flushCompileCache(); // else Node writes the code of this process at its end, into a folder that is gone
  for (const path of goes) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const [first] = goes;
  if (first !== undefined && stays.length === 0) removeIfEmpty(dirname(first));
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // others keep something there
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // nothing was ever stored
  }
}

const isThere = (path: string): boolean => listNames(dirname(path)).includes(path.slice(dirname(path).length + 1));
