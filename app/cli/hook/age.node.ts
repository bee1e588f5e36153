import { statSync } from 'node:fs';

/** When a file was changed, in milliseconds since the epoch; 0: it is not there. */
export function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** How long a file is, in bytes; 0: it is not there, or not to be looked at. */
export function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // a path of the harness that is no path here
  }
}
