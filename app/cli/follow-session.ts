import { join } from 'node:path';
import type { Io } from '../../core/command/index.ts';
import type { Log } from '../../core/ports/index.ts';
import { realClock } from '../../core/ports/index.ts';
import { openStore } from '../../core/state/index.ts';
import { openSessionStore, parseTmuxServer, readStartKey, type Session, type SessionStore } from '../open/index.ts';
import { DATABASE } from './open-local-hive.ts';
import { findRunnerLife, getSurroundings } from './session-surroundings.node.ts';

/**
 * Announces where a persona works, as `hivebar session set` does, while its events are followed there. A live session that was
 * announced from the same folder is left alone, because it may know more. A failure here does not stop following.
 */
export function announce(persona: string, state: string, env: Io['env'], log: Log): Disposable {
  const { cwd, parent, own, platform } = getSurroundings();
  const id = `follow-${own}`;
  const announced = tryWithSessions(state, log, (sessions) => {
    if (sessions.list(persona).some((session) => isLiveIn(session, cwd))) return false;
    const server = env.TMUX === undefined ? null : parseTmuxServer(env.TMUX);
    const pane = env.TMUX_PANE ? (server === null ? null : { ...server, pane: env.TMUX_PANE }) : null;
    const runner = { pid: parent, startKey: readStartKey(parent, platform) };
    sessions.set({ persona, id, cwd, pane, runner, resume: null }, realClock.now());
    return true;
  });
  return {
    [Symbol.dispose]() {
      if (announced === true) tryWithSessions(state, log, (sessions) => sessions.end(persona, id, realClock.now()));
    },
  };
}

function isLiveIn({ endedAt, runner, cwd: sessionFolder }: Session, cwd: string): boolean {
  return endedAt === null && sessionFolder === cwd && findRunnerLife(runner) === 'live';
}

function tryWithSessions<T>(state: string, log: Log, work: (sessions: SessionStore) => T): T | null {
  try {
    using db = openStore(join(state, DATABASE), { log });
    return work(openSessionStore(db));
  } catch (error) {
    log.warn(`the session could not be announced: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
