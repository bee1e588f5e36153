import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { Fault } from '../model/index.ts';
import type { Clock, Random } from '../ports/index.ts';
import { type Disk, ensurePrivateDir, getErrno, type Lock, lockFile, writeAtomically } from '../state/index.ts';
import { type Handlers, serveConnection } from './connection.node.ts';
import { type DaemonPlaces, LONGEST_SOCKET } from './places.ts';

export interface ControlSocketOptions {
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
    throw createSocketFault(socket, `the path has ${bytes} bytes, a socket can have ${LONGEST_SOCKET}`);
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
        const message = `the daemon ${name} runs already, with its socket in ${runtime}`;
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
