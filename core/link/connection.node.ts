import type { Socket } from 'node:net';
import type { Clock } from '../ports/index.ts';
import { formatAnswerLine, formatRefusalLine } from './answers.ts';
import { createLineCutter, LONGEST_LINE } from './lines.ts';
import { type DaemonStatus, type RingAnswer, type TurnBoundary, VERBS } from './protocol.ts';
import { type LinkRequest, parseRequestLine } from './request.ts';

/** What a daemon does for each request. */
export interface Handlers {
  status(): DaemonStatus;
  /**
   * @param boundary null: a person asks, and the ring waits for the next boundary
   * @param isRead resolves after the answer was written, and never rejects: true if the asker read the answer. If it hung up with
   * the answer unread, the ring was not delivered
   */
  notify(turnBoundary: TurnBoundary | null, isRead: Promise<boolean>): Promise<RingAnswer>;
  /** @throws Error if the surface cannot be bound now */
  resume(): Promise<void>;
  /** Called after the answer was written. */
  shutdown(reason: string, deadlineMs: number): void;
  /** A peer had no valid token, or sent something that is not a request. */
  refused(error: 'ipc_auth_failed'): void;
}

export interface ConversationContext {
  readonly isToken: (candidate: string) => boolean;
  readonly clock: Clock;
  readonly handlers: Handlers;
}

/** A peer that has not shown the token by then is disconnected. A hook shows it within a millisecond. */
const STRANGER_MS = 2000;
/** How long to wait for the next whole line, and for an answer to be read. */
const IDLE_MS = 30_000;

/** The callback that waits to hear whether the last answer was read. */
type ReadWaiter = ((isRead: boolean) => void) | null;

/**
 * Serves one connection until it ends (persona daemon, contract 1 and 4). Nothing is answered before the peer shows the token.
 * Requests run one after the other. The next request is read only after the previous answer was sent, so a peer that does not
 * read delays only itself.
 */
export async function serveConnection(peer: Socket, { isToken, clock, handlers }: ConversationContext): Promise<void> {
  peer.on('error', () => {}); // the loop below gets the error too
  const cut = createLineCutter(LONGEST_LINE);
  let isKnown = false;
  let owed: ReadWaiter = null;
  const resolveOwed = (isRead: boolean): void => {
    const answered = owed;
    owed = null;
    answered?.(isRead);
  };
  let limit = clock.after(STRANGER_MS, () => peer.destroy());
  try {
    for await (const chunk of peer) {
      resolveOwed(true);
      const { lines, isOver } = cut(chunk as Uint8Array);
      for (const line of lines) {
        const parsed = parseRequestLine(line, isToken, isKnown);
        if (parsed.is === 'stranger') return await refuse();
        isKnown = true;
        limit[Symbol.dispose]();
        limit = clock.after(IDLE_MS, () => peer.destroy());
        resolveOwed(true);
        switch (parsed.is) {
          case 'request':
            owed = await answerRequest(peer, parsed.request, handlers);
            break;
          case 'unknown-verb':
            await writeLine(peer, formatRefusalLine('unknown_verb', `say ${VERBS.join(', ')}`));
            break;
          case 'bad-request':
            await writeLine(peer, formatRefusalLine('bad_request', parsed.why));
            break;
        }
      }
      if (isOver) return await refuse();
    }
    resolveOwed(true);
  } catch {
    // The connection was reset, or closed with an answer on its way. The finally block reports it.
  } finally {
    limit[Symbol.dispose]();
    resolveOwed(false);
    peer.destroy();
  }

  async function refuse(): Promise<void> {
    handlers.refused('ipc_auth_failed');
    if (isKnown)
      await writeLine(peer, formatRefusalLine('ipc_auth_failed', 'not the token, or no request of this protocol'));
  }
}

async function answerRequest(peer: Socket, request: LinkRequest, handlers: Handlers): Promise<ReadWaiter> {
  switch (request.verb) {
    case 'status':
      await writeLine(peer, formatAnswerLine(handlers.status()));
      return null;
    case 'notify_surface':
      return await answerRing(peer, request.boundary, handlers);
    case 'resume_surface':
      await writeLine(peer, await answerResume(handlers));
      return null;
    case 'shutdown':
      try {
        await writeLine(peer, formatAnswerLine({}));
      } finally {
        handlers.shutdown(request.reason, request.deadlineMs);
      }
      return null;
  }
}

/** The peer has read the answer once it sends more, or hangs up with nothing left to read. `serveConnection` detects both. */
async function answerRing(peer: Socket, turnBoundary: TurnBoundary | null, handlers: Handlers): Promise<ReadWaiter> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    await writeLine(peer, formatAnswerLine(await handlers.notify(turnBoundary, promise)));
    return resolve;
  } catch (error) {
    resolve(false);
    throw error;
  }
}

async function answerResume(handlers: Handlers): Promise<string> {
  try {
    await handlers.resume();
    return formatAnswerLine({});
  } catch {
    // The daemon has logged the reason; the message of a plugin is not for the peer.
    return formatRefusalLine('surface_unavailable', 'its surface cannot be bound now; see the log of the daemon');
  }
}

/** @throws Error if the peer is gone */
async function writeLine(peer: Socket, line: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    peer.write(line, (error) => (error ? reject(error) : resolve()));
  });
}
