import { dirname } from 'node:path';

/** The calls that create directories. Each throws what node:fs throws. */
export interface DirectoryCalls {
  mkdir(path: string, mode: number): void;
  /** Follows symlinks; false for a path that is missing or cannot be examined. */
  isDirectory(path: string): boolean;
}

/**
 * Creates a directory and its missing parents. Node's recursive call is not used: it loops for ever where the system
 * reports "no such file" for a directory whose parent exists, as below `/proc` (oven-sh/bun#40600 is the same bug).
 *
 * @param mode for every directory it creates; existing ones stay unchanged
 * @throws the error of the first directory that cannot be created
 */
export function makeDirectories(calls: DirectoryCalls, path: string, mode: number): void {
  if (calls.isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectories(calls, parent, mode);
  try {
    calls.mkdir(path, mode);
  } catch (error) {
    if (!calls.isDirectory(path)) throw error; // otherwise another process was faster
  }
}
