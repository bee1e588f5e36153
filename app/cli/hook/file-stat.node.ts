import { statSync } from 'node:fs';

/** Returns when a file was changed, in milliseconds since the epoch; 0 when it does not exist. */
export function readChangedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Whether the path exists. A path that we may not read counts as existing: the code that uses it reports the problem. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // we may not read it
  }
}

/** Returns the size of a file in bytes; 0 when it does not exist or cannot be read. */
export function readSize(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // a path of the harness that does not exist here
  }
}
