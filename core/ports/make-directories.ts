import { dirname } from 'node:path';

/** What directories are made with. Each throws what node:fs throws. */
export interface DirectoryCalls {
  mkdir(path: string, mode: number): void;
  /** Follows symlinks; false for what is not there or cannot be looked at. */
  isDirectory(path: string): boolean;
}

/**
 * Makes a directory and those above it that are missing. Not by the recursive call of Node, which repeats itself for ever where
 * the system says "no such file" of a directory whose parent is there: below `/proc` (oven-sh/bun#40600 is the same).
 *
 * @param mode of every directory it makes; existing ones are left as they are
 * @throws what the system says of the first one that cannot be made
 */
export function makeDirectories(calls: DirectoryCalls, path: string, mode: number): void {
  if (calls.isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectories(calls, parent, mode);
  try {
    calls.mkdir(path, mode);
  } catch (error) {
    if (!calls.isDirectory(path)) throw error; // else somebody else was faster
  }
}
