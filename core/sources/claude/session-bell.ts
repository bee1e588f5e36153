import { join } from 'node:path';
import { Fault } from '../../model/index.ts';
import type { Disk } from '../../state/index.ts';
import { parseSessionFile, type ReadProcess, readProcess, readWhole, type SessionFile } from './read/index.ts';
import { findSocket, formatFrame } from './reply.ts';
import { createSendToSession } from './send-to-session.node.ts';

/** A session of Claude Code, as its hooks announced it. */
export interface AnnouncedSession {
  readonly id: string;
  readonly pid: number;
  /** The folder in which Claude Code keeps its sessions. */
  readonly home: string;
}

/** Rings a session at its socket. */
export interface SessionBell {
  /**
   * Hands over a sentence, which begins a turn. Nothing comes back, so nobody knows whether it was accepted. Returns false, and sends
   * nothing, when the session is not idle. @throws Fault
   */
  ring(words: string, signal: AbortSignal): Promise<boolean>;
}

/** Larger than what Claude Code writes about a session. */
const MOST_BYTES = 64 * 1024;

/** Null: the session cannot be rung now. It is not idle, has no socket, speaks an unknown protocol or is over. */
export function createSessionBell(
  session: AnnouncedSession,
  { files, uid }: Pick<Disk, 'files' | 'uid'>,
  findProcess: ReadProcess = readProcess,
): SessionBell | null {
  if (findIdle() === null) return null;
  const send = createSendToSession(files, uid);
  return {
    async ring(words, signal) {
      const path = findIdle();
      if (path === null) return false;
      await send(path, (id) => formatFrame(id, words), signal);
      return true;
    },
  };

  /** Returns the path of its socket. */
  function findIdle(): string | null {
    const file = readSession();
    if (file === null || file.pid !== session.pid || file.sessionId !== session.id) return null;
    if (file.kind !== 'interactive' || file.status !== 'idle' || file.waitingFor !== null) return null;
    try {
      return findSocket(session.id, { file, goneAt: null }, findProcess);
    } catch (error) {
      if (error instanceof Fault) return null;
      throw error;
    }
  }

  function readSession(): SessionFile | null {
    const read = readWhole(files, join(session.home, 'sessions', `${session.pid}.json`), MOST_BYTES);
    try {
      return read.is === 'bytes' ? parseSessionFile(read.bytes.toString('utf8')) : null;
    } catch {
      return null; // it is being written
    }
  }
}
