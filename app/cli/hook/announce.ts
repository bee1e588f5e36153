import { isAbsolute, join } from 'node:path';
import type { Turn } from '../../../core/hooks/index.ts';
import type { Instant } from '../../../core/model/index.ts';
import { type Sessions, startKeyOf, tmuxServerOf } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { isThere } from './age.node.ts';
import { agentProcess } from './agent.node.ts';

const RESUMES: Readonly<Record<string, (session: string) => readonly string[]>> = {
  claude: (session) => ['claude', '--resume', session],
  codex: (session) => ['codex', 'resume', session],
};

const HOMES: Readonly<Record<string, readonly [variable: string, folder: string]>> = {
  claude: ['CLAUDE_CONFIG_DIR', '.claude'],
  codex: ['CODEX_HOME', '.codex'],
};

/** Where the harness of this hook keeps its sessions; null: nothing says it. */
function findHome(harness: string, env: Io['env']): string | null {
  const [variable = '', folder = ''] = HOMES[harness] ?? [];
  const found = env[variable] || (env.HOME && folder !== '' ? join(env.HOME, folder) : '');
  return isAbsolute(found) ? found : null;
}

/** Codex holds a lock for each thread that it runs, in a server that outlives the thread; null: this one has none. */
function findLock(harness: string, home: string, session: string): string | null {
  if (harness !== 'codex' || /[/\\\0]/.test(session)) return null;
  const path = join(home, 'thread-writer-locks', `${session}.lock`);
  return isThere(path) ? path : null;
}

/**
 * The session is the persona's newest from now on, as by `hivebar session set`; what resumes it stays if that was said
 * before. @throws Fault
 */
export function announce(
  sessions: Sessions,
  who: { readonly persona: string; readonly harness: string },
  { session, cwd }: Turn,
  env: Io['env'],
  now: Instant,
): void {
  if (session === null) return;
  const { persona, harness } = who;
  const { cwd: here, platform } = surroundings();
  const pid = agentProcess();
  const server = env.TMUX === undefined ? null : tmuxServerOf(env.TMUX);
  const before = sessions.of(persona).find(({ id }) => id === session);
  const home = findHome(harness, env);
  const resume = session.startsWith('-') ? null : (RESUMES[harness]?.(session) ?? null);
  sessions.set(
    {
      persona,
      id: session,
      cwd: cwd !== null && isAbsolute(cwd) ? cwd : here,
      pane: server === null || !env.TMUX_PANE ? null : { ...server, pane: env.TMUX_PANE },
      runner: {
        pid,
        startKey: startKeyOf(pid, platform),
        lock: home === null ? null : findLock(harness, home, session),
      },
      resume: before?.resume ?? resume,
      harness: home === null ? null : { name: harness, home },
    },
    now,
  );
}
