import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The path without symlinks; of what is not there yet, as far as it is. */
export function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
    return join(resolveRealPath(parent), basename(path));
  }
}
