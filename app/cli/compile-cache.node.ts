import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets this process keep what it compiles, for the next start; call it before the imports that are to gain. Never in
 * the shared temporary directory, which is Node's default: code that others can write there would be run.
 */
export function useCompileCache(): void {
  enableCompileCache(compileCacheDir());
}

/** Private to the user. @throws for a user without a home */
export function compileCacheDir(): string {
  return join(cacheHome(), 'hivebar', 'compile');
}

/** Losing it costs a slower start. `HIVEBAR_HOME` does not move it: it holds no state and no secret. */
function cacheHome(): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  if (process.platform === 'win32') return process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  const given = process.env.XDG_CACHE_HOME;
  return given?.startsWith('/') ? given : join(homedir(), '.cache');
}
