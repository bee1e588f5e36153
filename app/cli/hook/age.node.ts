import { statSync } from 'node:fs';

/** When a file was changed, in milliseconds since the epoch; 0: it is not there. */
export function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
