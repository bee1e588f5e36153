import { chmodSync, lstatSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { realFiles } from '../../core/ports/files.node.ts';
import { findOwnHome } from '../../core/state/dirs.node.ts';

const PRIVATE = 0o700;
const OTHERS_WRITE = 0o022;

/**
 * Lets this process keep what it compiles, for the next start; call it before the imports that are to gain. Never in
 * the shared temporary directory, which is Node's default: code that others can write there would be run.
 */
export function useCompileCache(): void {
  const directory = openCompileCacheDir();
  if (directory !== null) enableCompileCache(directory);
}

/**
 * The folder of compiled code, for this user alone whatever the umask says; null where there is none that can be trusted: no home,
 * no room, or a folder of somebody else. What others could write into is put aside and begun anew, since what is in it would be run.
 */
export function openCompileCacheDir(): string | null {
  try {
    const directory = join(findCacheHome(), 'hivebar', 'compile');
    realFiles.mkdirAll(directory, PRIVATE);
    if (process.getuid === undefined) return directory; // the profile of a user is private by itself
    const state = claim(dirname(directory));
    if (state === 'foreign') return null;
    const own = claim(directory);
    if (own === 'foreign') return null;
    if (state === 'private' && own === 'private') return directory;
    realFiles.rename(directory, `${directory}.loose-${process.pid}-${Date.now()}`);
    realFiles.mkdirAll(directory, PRIVATE);
    return claim(directory) === 'private' ? directory : null;
  } catch {
    return null; // a slower start, and the next one tries again
  }
}

/** Makes a folder private; `loose`: others could write into it until now. */
function claim(path: string): 'private' | 'loose' | 'foreign' {
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== process.geteuid?.()) return 'foreign';
  if ((stat.mode & 0o777) === PRIVATE) return 'private';
  chmodSync(path, PRIVATE);
  return (stat.mode & OTHERS_WRITE) === 0 ? 'private' : 'loose';
}

/** Losing it costs a slower start. `HIVEBAR_HOME` does not move it: it holds no state and no secret. */
function findCacheHome(): string {
  if (process.platform === 'darwin') return join(findOwnHome(), 'Library', 'Caches');
  if (process.platform === 'win32') return process.env.LOCALAPPDATA ?? join(findOwnHome(), 'AppData', 'Local');
  const configured = process.env.XDG_CACHE_HOME;
  return configured?.startsWith('/') ? configured : join(findOwnHome(), '.cache');
}
