import type { Socket } from 'node:net';
import type { Clock } from '../ports/index.ts';
import { formatAnswerLine, formatRefusalLine } from './answers.ts';
import { createLineCutter, LONGEST_LINE } from './lines.ts';
import { type DaemonStatus, type RingAnswer, type TurnBoundary, VERBS } from './protocol.ts';
import { type LinkRequest, parseRequestLine } from './request.ts';

/** What a daemon does when it is asked. */
export interface Handlers {
  status(): DaemonStatus;
  /**
   * @param boundary null: a person asks, for the next one
   * @param isRead whether the one who asked has read the answer; who is gone with it unread has told nobody. Never rejects,
   * and comes after the answer was given
   */
  notify(turnBoundary: TurnBoundary | null, isRead: Promise<boolean>): Promise<RingAnswer>;
  /** @throws Error when the surface cannot be bound now */
  resume(): Promise<void>;
  /** Called when the answer is on its way. */
  shutdown(reason: string, deadlineMs: number): void;
  /** Somebody spoke who may not, or what is no request. */
  refused(error: 'ipc_auth_failed'): void;
}

export interface ConversationContext {
  readonly isToken: (candidate: string) => boolean;
  readonly clock: Clock;
  readonly handlers: Handlers;
}

/** Who has not shown the token by then is sent away; the hook has shown it in a millisecond. */
const STRANGER_MS = 2000;
/** Until the next whole line, and for an answer to be read. */
const IDLE_MS = 30_000;

/** Who waits to hear whether the last answer was read. */
type ReadWaiter = ((isRead: boolean) => void) | null;

/**
 * One connection to its end (persona daemon, contract 1 and 4). Nothing is said before the token was; requests are done one
 * after the other, and the next is read when the answer before is taken, so a peer that does not read holds up itself alone.
 */
export async function serveConnection(peer: Socket, { isToken, clock, handlers }: ConversationContext): Promise<void> {
  peer.on('error', () => {}); // the loop below has it too
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
    // Reset, or closed with an answer on its way: to whom it matters, it is told below.
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

/** The other end has read it when it says something more, or hangs up with nothing left to read: `talk` sees that. */
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
    // The daemon has logged why; what a plugin says is not for the other end.
    return formatRefusalLine('surface_unavailable', 'its surface cannot be bound now; see the log of the daemon');
  }
}

/** @throws Error when the peer is gone */
async function writeLine(peer: Socket, line: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    peer.write(line, (error) => (error ? reject(error) : resolve()));
  });
}
