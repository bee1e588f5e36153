import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Resolves the symlinks of a path. Of a path that does not exist yet, the existing part is resolved. */
export function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) throw error;
    return join(resolveRealPath(parent), basename(path));
  }
}
