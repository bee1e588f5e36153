import { isAbsolute } from 'node:path';
import type { Turn } from '../../../core/hooks/index.ts';
import type { Instant } from '../../../core/model/index.ts';
import { type Sessions, startKeyOf, tmuxServerOf } from '../../open/index.ts';
import type { Io } from '../command.ts';
import { findHome, findLock } from '../harness-home.node.ts';
import { surroundings } from '../session-surroundings.node.ts';
import { agentProcess } from './agent.node.ts';

const RESUMES: Readonly<Record<string, (session: string) => readonly string[]>> = {
  claude: (session) => ['claude', '--resume', session],
  codex: (session) => ['codex', 'resume', session],
};

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
        lock: harness === 'codex' && home !== null ? findLock(home, session) : null,
      },
      resume: before?.resume ?? resume,
      harness: home === null ? null : { name: harness, home },
    },
    now,
  );
}
