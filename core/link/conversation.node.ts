import type { Socket } from 'node:net';
import type { Clock } from '../ports/index.ts';
import { answerLine, refusalLine } from './answers.ts';
import { LONGEST_LINE, lineCutter } from './lines.ts';
import { heard, type LinkRequest } from './request.ts';
import { type Boundary, type DaemonStatus, type RingAnswer, VERBS } from './words.ts';

/** What a daemon does when it is asked. */
export interface Handlers {
  status(): DaemonStatus;
  /**
   * @param boundary null: a person asks, for the next one
   * @param isRead whether the one who asked has read the answer; who is gone with it unread has told nobody. Never rejects,
   * and comes after the answer was given
   */
  notify(boundary: Boundary | null, isRead: Promise<boolean>): Promise<RingAnswer>;
  /** @throws Error when the surface can not be bound now */
  resume(): Promise<void>;
  /** Called when the answer is on its way. */
  shutdown(reason: string, deadlineMs: number): void;
  /** Somebody spoke who may not, or what is no request. */
  refused(error: 'ipc_auth_failed'): void;
}

export interface Room {
  readonly isToken: (given: string) => boolean;
  readonly clock: Clock;
  readonly handlers: Handlers;
}

/** Who has not shown the token by then is sent away; the hook has shown it in a millisecond. */
const STRANGER_MS = 2000;
/** Until the next whole line, and for an answer to be read. */
const IDLE_MS = 30_000;

/** Who waits to hear whether the last answer was read. */
type Owed = ((isRead: boolean) => void) | null;

/**
 * One connection to its end (persona daemon, contract 1 and 4). Nothing is said before the token was; requests are done one
 * after the other, and the next is read when the answer before is taken, so a peer that does not read holds up itself alone.
 */
export async function talk(peer: Socket, { isToken, clock, handlers }: Room): Promise<void> {
  peer.on('error', () => {}); // the loop below has it too
  const cut = lineCutter(LONGEST_LINE);
  let isKnown = false;
  let owed: Owed = null;
  const settle = (isRead: boolean): void => {
    const answered = owed;
    owed = null;
    answered?.(isRead);
  };
  let limit = clock.after(STRANGER_MS, () => peer.destroy());
  try {
    for await (const chunk of peer) {
      settle(true);
      const { lines, isOver } = cut(chunk as Uint8Array);
      for (const line of lines) {
        const said = heard(line, isToken, isKnown);
        if (said.is === 'stranger') return await refuse();
        isKnown = true;
        limit[Symbol.dispose]();
        limit = clock.after(IDLE_MS, () => peer.destroy());
        settle(true);
        switch (said.is) {
          case 'request':
            owed = await answer(peer, said.request, handlers);
            break;
          case 'unknown-verb':
            await write(peer, refusalLine('unknown_verb', `say ${VERBS.join(', ')}`));
            break;
          case 'bad-request':
            await write(peer, refusalLine('bad_request', said.why));
            break;
        }
      }
      if (isOver) return await refuse();
    }
    settle(true);
  } catch {
    // Reset, or closed with an answer on its way: to whom it matters, it is told below.
  } finally {
    limit[Symbol.dispose]();
    settle(false);
    peer.destroy();
  }

  async function refuse(): Promise<void> {
    handlers.refused('ipc_auth_failed');
    if (isKnown) await write(peer, refusalLine('ipc_auth_failed', 'not the token, or no request of this protocol'));
  }
}

async function answer(peer: Socket, request: LinkRequest, handlers: Handlers): Promise<Owed> {
  switch (request.verb) {
    case 'status':
      await write(peer, answerLine(handlers.status()));
      return null;
    case 'notify_surface':
      return await ring(peer, request.boundary, handlers);
    case 'resume_surface':
      await write(peer, await resumed(handlers));
      return null;
    case 'shutdown':
      try {
        await write(peer, answerLine({}));
      } finally {
        handlers.shutdown(request.reason, request.deadlineMs);
      }
      return null;
  }
}

/** The other end has read it when it says something more, or hangs up with nothing left to read: `talk` sees that. */
async function ring(peer: Socket, boundary: Boundary | null, handlers: Handlers): Promise<Owed> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    await write(peer, answerLine(await handlers.notify(boundary, promise)));
    return resolve;
  } catch (error) {
    resolve(false);
    throw error;
  }
}

async function resumed(handlers: Handlers): Promise<string> {
  try {
    await handlers.resume();
    return answerLine({});
  } catch {
    // The daemon has logged why; what a plugin says is not for the other end.
    return refusalLine('surface_unavailable', 'its surface can not be bound now; see the log of the daemon');
  }
}

/** @throws Error when the peer is gone */
async function write(peer: Socket, line: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    peer.write(line, (error) => (error ? reject(error) : resolve()));
  });
}
