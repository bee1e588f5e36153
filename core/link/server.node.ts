import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { Fault } from '../model/index.ts';
import type { Clock, Random } from '../ports/index.ts';
import { type Disk, ensurePrivateDir, getErrno, type Lock, lockFile, writeAtomically } from '../state/index.ts';
import { type DaemonPlaces, LONGEST_SOCKET } from './config.ts';
import { createLineCutter, LONGEST_LINE } from './lines.ts';
import {
  type DaemonStatus,
  formatAnswerLine,
  formatRefusalLine,
  type LinkRequest,
  parseRequestLine,
  type RingAnswer,
  type TurnBoundary,
  VERBS,
} from './protocol.ts';

interface ControlSocketOptions {
  readonly places: DaemonPlaces;
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Clock;
  readonly handlers: Handlers;
}

/** The open control socket of the one daemon of its name. Disposing it closes every connection and releases the name. */
export interface ControlSocket extends AsyncDisposable {
  readonly places: DaemonPlaces;
}

/** More than the hook, the tray and a few people need at once. */
const MOST_CONNECTIONS = 64;
const ATTEMPTS = 4;
const AGAIN_MS = 20;
/** Connecting needs write permission, and this mask leaves it to the owner alone. */
const OWNER_ONLY = 0o177;

/**
 * Opens the control socket (persona daemon, contract 1). It takes the lock first, so that a live daemon is never mistaken for a
 * dead one. Then it removes what a killed daemon left, writes a new token, and opens the socket: 0600 in a directory 0700.
 *
 * @throws Fault `daemon-runs`: another process is this daemon; `daemon-socket`, which is class `ipc_bind_failed`: the path is too
 * long or cannot be bound; `unwritable` or `no-space`
 */
export async function openControlSocket({
  places,
  disk,
  random,
  clock,
  handlers,
}: ControlSocketOptions): Promise<ControlSocket> {
  const { socket, token: tokenPath, pid: pidPath, runtime } = places;
  const isPipe = socket.startsWith('\\\\');
  if (!isPipe) checkLength(socket);
  ensurePrivateDir(disk, runtime);
  const lock = await acquireLock(disk, places, clock);
  try {
    writeAtomically(disk, random, pidPath, `${process.pid}\n`); // lets others end the process even if it does not answer
    if (!isPipe) remove(disk, socket);
    const token = random.hex(32);
    writeAtomically(disk, random, tokenPath, `${token}\n`);
    const isToken = createTokenCheck(token);
    const open = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (peer) => {
      open.add(peer);
      peer.once('close', () => open.delete(peer));
      void serveConnection(peer, { isToken, clock, handlers });
    });
    server.maxConnections = MOST_CONNECTIONS;
    await listen(server, socket);
    // Without a file descriptor for one more connection, the open connections go on.
    server.on('error', (error) => disk.log.warn(`${socket}: ${error.message}`, { path: socket }));
    return {
      places,
      async [Symbol.asyncDispose]() {
        const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
        for (const peer of open) peer.destroy();
        await closed;
        try {
          if (!isPipe) remove(disk, socket);
          remove(disk, tokenPath);
          remove(disk, pidPath);
        } finally {
          lock[Symbol.dispose]();
        }
      },
    };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

function checkLength(socket: string): void {
  const bytes = Buffer.byteLength(socket);
  if (bytes > LONGEST_SOCKET)
    throw createSocketFault(
      socket,
      `the path has ${bytes} bytes, but a socket path can have at most ${LONGEST_SOCKET}`,
    );
}

/** A process that only checks whether a daemon lives holds the lock for a moment, so we try more than once. */
async function acquireLock(disk: Disk, { locked: path, name, runtime }: DaemonPlaces, clock: Clock): Promise<Lock> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return lockFile(disk, path);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'lock-held') throw error;
      if (attempt === ATTEMPTS) {
        const scope = { is: 'machine', key: `daemon:${name}` } as const;
        const message = `the daemon ${name} is already running, with its socket in ${runtime}`;
        throw new Fault('daemon-runs', message, scope, { cause: error });
      }
      await clock.sleep(AGAIN_MS, new AbortController().signal);
    }
  }
}

/** The mask is that of the whole process, but binding is done when `listen` returns: nothing else is created with it. */
async function listen(server: Server, path: string): Promise<void> {
  const before = process.platform === 'win32' ? null : process.umask(OWNER_ONLY);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
      if (before !== null) process.umask(before);
    });
  } catch (error) {
    if (before !== null) process.umask(before);
    throw createSocketFault(path, getErrno(error) || String(error), error);
  }
}

function remove(disk: Disk, path: string): void {
  try {
    disk.files.unlink(path);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw createSocketFault(path, `cannot be removed: ${getErrno(error)}`, error);
  }
}

function createSocketFault(path: string, why: string, cause?: unknown): Fault {
  return new Fault('daemon-socket', `${path}: ${why}`, { is: 'machine', key: `file:${path}` }, { cause });
}

/** Compares in the same time whatever is given, also at another length. */
function createTokenCheck(token: string): (candidate: string) => boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  const own = hash(token);
  return (candidate) => timingSafeEqual(hash(candidate), own);
}

/** What a daemon does for each request. */
export interface Handlers {
  status(): DaemonStatus;
  /**
   * @param boundary null: a person asks, and the ring waits for the next turn boundary
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

interface ConversationContext {
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
async function serveConnection(peer: Socket, { isToken, clock, handlers }: ConversationContext): Promise<void> {
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
            await writeLine(peer, formatRefusalLine('unknown_verb', `expected one of ${VERBS.join(', ')}`));
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
      await writeLine(peer, formatRefusalLine('ipc_auth_failed', 'wrong token, or not a request of this protocol'));
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
