import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { findHarnessModule } from '../../core/hooks/index.ts';
import { findWorkFolder } from '../../core/state/index.ts';
import { checkLiveness, type ProcessLiveness, type Session } from '../open/index.ts';

/**
 * Returns where a command runs, for values that its command line leaves out. When the folder was removed, it is the user's
 * home.
 */
export function getSurroundings(): {
  readonly cwd: string;
  readonly own: number;
  readonly parent: number;
  readonly platform: NodeJS.Platform;
} {
  return {
    cwd: findWorkFolder(),
    own: process.pid,
    parent: process.ppid,
    platform: process.platform,
  };
}

export function findRunnerLife(announced: Session['runner']): ProcessLiveness {
  return checkLiveness(announced, process.platform);
}

type HarnessEnv = Readonly<Record<string, string | undefined>>;

/** Returns the folder in which a harness stores its sessions; null when it is unknown. */
export function findHome(harness: string, env: HarnessEnv): string | null {
  const place = findHarnessModule(harness)?.setup.home ?? null;
  if (place === null) return null;
  const { variable, folder } = place;
  const home = (variable !== null && env[variable]) || (env.HOME ? join(env.HOME, folder) : '');
  return isAbsolute(home) ? home : null;
}

/**
 * Returns the lock file that Codex holds for a thread while it runs the thread, in a server that outlives it. Null: Codex does
 * not run this thread.
 */
export function findLock(home: string, session: string): string | null {
  if (/[/\\\0]/.test(session)) return null;
  const path = join(home, 'thread-writer-locks', `${session}.lock`);
  return existsSync(path) ? path : null;
}
