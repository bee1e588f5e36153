import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

type HarnessEnv = Readonly<Record<string, string | undefined>>;

const HOMES: Readonly<Record<string, readonly [variable: string, folder: string]>> = {
  claude: ['CLAUDE_CONFIG_DIR', '.claude'],
  codex: ['CODEX_HOME', '.codex'],
};

/** Where a harness keeps its sessions; null: nothing says it. */
export function findHome(harness: string, env: HarnessEnv): string | null {
  const [variable = '', folder = ''] = HOMES[harness] ?? [];
  const home = env[variable] || (env.HOME && folder !== '' ? join(env.HOME, folder) : '');
  return isAbsolute(home) ? home : null;
}

/** Codex holds a lock for each thread that it runs, in a server that outlives the thread; null: it does not run this one. */
export function findLock(home: string, session: string): string | null {
  if (/[/\\\0]/.test(session)) return null;
  const path = join(home, 'thread-writer-locks', `${session}.lock`);
  return existsSync(path) ? path : null;
}
