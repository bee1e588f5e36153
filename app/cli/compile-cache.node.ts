import { chmodSync, lstatSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { realFiles } from '../../core/ports/files.node.ts';
import { findCacheHome } from '../../core/state/dirs.node.ts';

const PRIVATE = 0o700;
const OTHERS_WRITE = 0o022;

/**
 * Lets Node store compiled code for the next start; call it before the imports that should benefit. It never uses Node's
 * default, the shared temporary directory: code that others can write there would be executed.
 */
export function useCompileCache(): void {
  const directory = openCompileCacheDir();
  if (directory !== null) enableCompileCache(directory);
}

/**
 * Opens the folder of compiled code, which only this user can access, whatever the umask says. A folder that others could write
 * to is moved aside and created anew, because its code would be executed. Null when no folder can be trusted: no home, no
 * space, or a folder of another user.
 */
export function openCompileCacheDir(): string | null {
  try {
    const directory = join(findCacheHome(), 'hivebar', 'compile');
    realFiles.mkdirAll(directory, PRIVATE);
    if (process.getuid === undefined) return directory; // the profile of a user is private on its own
    const state = claim(dirname(directory));
    if (state === 'foreign') return null;
    const own = claim(directory);
    if (own === 'foreign') return null;
    if (state === 'private' && own === 'private') return directory;
    realFiles.rename(directory, `${directory}.loose-${process.pid}-${Date.now()}`);
    realFiles.mkdirAll(directory, PRIVATE);
    return claim(directory) === 'private' ? directory : null;
  } catch {
    return null; // a slower start; the next start tries again
  }
}

/** Makes a folder private. `loose` means that others could write to it until now. */
function claim(path: string): 'private' | 'loose' | 'foreign' {
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== process.geteuid?.()) return 'foreign';
  if ((stat.mode & 0o777) === PRIVATE) return 'private';
  chmodSync(path, PRIVATE);
  return (stat.mode & OTHERS_WRITE) === 0 ? 'private' : 'loose';
}
