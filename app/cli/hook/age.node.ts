import { statSync } from 'node:fs';

/** When a file was changed, in milliseconds since the epoch; 0: it is not there. */
export function readChangedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Whether something has this name; also when it may not be looked at: who goes there says what is wrong. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true; // it is hidden from us
  }
}

/** How long a file is, in bytes; 0: it is not there, or not to be looked at. */
export function readSize(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // a path of the harness that is no path here
  }
}
