import { isAbsolute } from 'node:path';
import type { Io } from '../../../core/command/index.ts';
import { findHarnessModule, type HookTurn } from '../../../core/hooks/index.ts';
import type { Instant } from '../../../core/model/index.ts';
import { parseTmuxServer, type SessionStore } from '../../open/index.ts';
import { findHome, getSurroundings } from '../session-surroundings.node.ts';
import { findRunner } from './system.node.ts';

/**
 * Makes the session the persona's newest, as `hivebar session set` does. A resume command that was set before stays. @throws
 * Fault
 */
export function announce(
  sessions: SessionStore,
  agent: { readonly persona: string; readonly harness: string },
  { session, cwd }: HookTurn,
  env: Io['env'],
  now: Instant,
): void {
  if (session === null) return;
  const { persona, harness } = agent;
  const { cwd: workingFolder } = getSurroundings();
  const server = env.TMUX === undefined ? null : parseTmuxServer(env.TMUX);
  const before = sessions.list(persona).find(({ id }) => id === session);
  const home = findHome(harness, env);
  const resume = session.startsWith('-') ? null : (findHarnessModule(harness)?.resume?.(session) ?? null);
  sessions.set(
    {
      persona,
      id: session,
      cwd: cwd !== null && isAbsolute(cwd) ? cwd : workingFolder,
      pane: server === null || !env.TMUX_PANE ? null : { ...server, pane: env.TMUX_PANE },
      runner: findRunner(harness, session, env),
      resume: before?.resume ?? resume,
      harness: home === null ? null : { name: harness, home },
    },
    now,
  );
}
