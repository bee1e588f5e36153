import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { type Log, realFiles, realRandom } from '../../core/ports/index.ts';
import type { Service } from '../../core/services/index.ts';
import { getMaxSocketPathBytes } from '../owner-socket.ts';
import { createApp } from './app.node.ts';
import { createFrontServer } from './front-server.node.ts';
import type { ListenerKind } from './guard.ts';
import type { StatusOptions } from './status-options.ts';
import { createOnceCodes } from './token.ts';

export interface StatusServer extends AsyncDisposable {
  readonly port: number;
  /** The addresses of the server, `http://127.0.0.1:PORT/` first. */
  readonly urls: readonly string[];
  /** What the server does in the background while clients are connected. Their caller runs them. */
  readonly services: readonly Service[];
  /** Every route, as `METHOD /path/:param` in the form of the router. */
  readonly routes: readonly string[];
  /**
   * Creates a link for the owner's browser that works once, by default within a minute: `http://127.0.0.1:PORT/#once=CODE`, for one
   * persona `...&persona=ID`. The page exchanges the code for a device key (`POST /api/v1/token`).
   */
  createOnceLink(persona: string | null, goodForMs?: number): string;
}

/** A stop waits this long for answers in progress, then cuts them. */
const GRACE_MS = 100;
/** With port 0: how often another port is tried, when a port is free on 127.0.0.1 but taken on ::1. */
const TRIES = 5;

/**
 * Serves page, JSON, stream, local hive and actions on 127.0.0.1, on ::1 where the machine has it (field report S13), and on a
 * socket that only its owner can open. Dispose stops the server within 0.2 s, including held requests and open streams.
 *
 * @throws Fault `port-taken` when port or socket belong to another program; `unwritable` when the socket cannot be made.
 */
export async function startStatusServer(options: StatusOptions): Promise<StatusServer> {
  let port = options.port;
  const once = createOnceCodes({ clock: options.clock, random: realRandom });
  const app = await createApp(options, { port: () => port, run: realRandom.hex(8), once });
  const createOnceLink = (persona: string | null, goodForMs?: number): string => {
    const personaParam = persona === null ? '' : `&persona=${encodeURIComponent(persona)}`;
    return `http://127.0.0.1:${port}/#once=${once.make(goodForMs)}${personaParam}`;
  };
  const loopback = (): ListenerKind => ({ is: 'loopback', port });
  const servers: Server[] = [];
  const stop = async (): Promise<void> => {
    const closed = Promise.all(servers.map(closeServer));
    await app.close();
    const cut = options.clock.after(GRACE_MS, () => {
      for (const server of servers) server.closeAllConnections();
    });
    await closed;
    cut[Symbol.dispose]();
  };
  try {
    const urls: string[] = [];
    for (let tries = 1; ; tries += 1) {
      const four = createFrontServer(loopback, app);
      const six = createFrontServer(loopback, app);
      const bound = await bindLoopback(four, '127.0.0.1', options.port);
      if (bound.is === 'unavailable')
        throw new Fault('port-taken', '127.0.0.1 cannot be used', { is: 'machine', key: 'port' });
      servers.push(four);
      port = bound.port;
      try {
        const also = await bindLoopback(six, '::1', port);
        urls.push(`http://127.0.0.1:${port}/`);
        if (also.is === 'bound') {
          servers.push(six);
          urls.push(`http://[::1]:${port}/`);
        }
        break;
      } catch (error) {
        if (options.port === 0 && tries < TRIES) {
          servers.pop();
          await closeServer(four);
          continue;
        }
        if (!(error instanceof Fault)) throw error;
        // localhost may then lead a browser to another program; our printed address has 127.0.0.1 and still works
        options.log.warn(`not served on ::1: ${error.message}`, { port });
        urls.push(`http://127.0.0.1:${port}/`);
        break;
      }
    }
    if (options.socketPath !== null) {
      const owner = createFrontServer(() => ({ is: 'owner-socket' }), app);
      await bindOwnerSocket(owner, options.socketPath, options.log);
      servers.push(owner);
    }
    const { routes, services } = app;
    return { port, urls, routes, services, createOnceLink, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/**
 * How many connections may wait to be accepted; the system may allow fewer. With Node's 511, a crowd that connects at once fills the
 * queue, and the system repeats the owner's attempt only after a second.
 */
const BACKLOG = 4096;

/** The result of a bind. `unavailable` means that the machine has no such address. */
type BindResult = { readonly is: 'bound'; readonly port: number } | { readonly is: 'unavailable' };

/**
 * Binds one loopback address. Port 0 takes any free port.
 *
 * @throws Fault `port-taken` when something else listens there.
 */
async function bindLoopback(server: Server, host: '127.0.0.1' | '::1', port: number): Promise<BindResult> {
  try {
    await listenOn(server, { host, port, ipv6Only: host === '::1' });
  } catch (error) {
    const code = getErrorCode(error);
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return { is: 'unavailable' };
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const why = code === 'EADDRINUSE' ? 'is in use' : 'may not be used by this user';
    throw new Fault(
      'port-taken',
      `port ${port} of ${host} ${why}`,
      { is: 'machine', key: `port:${port}` },
      { cause: error },
    );
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error(`${host} has no port`);
  return { is: 'bound', port: address.port };
}

/**
 * Binds the owner-only socket with mode 0600, in a directory that only the owner can use. A socket on which nobody listens is
 * replaced. One that answers belongs to a running Hivebar. On Windows it is a named pipe, so there is no file to prepare or to
 * clean up.
 *
 * @throws Fault `port-taken` when one answers; `unwritable` when directory or path cannot serve.
 */
export async function bindOwnerSocket(
  server: Server,
  path: string,
  log: Log,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform === 'win32') return await bindPipe(server, path);
  const most = getMaxSocketPathBytes(platform);
  if (Buffer.byteLength(path) > most) {
    throw createSocketFault(
      path,
      `the path is longer than the ${most} bytes a socket may have; set a shorter HIVEBAR_HOME`,
    );
  }
  makeDirectory(dirname(path));
  await clearSocketPath(path, log);
  try {
    await listenOn(server, { path, readableAll: false, writableAll: false });
    chmodSync(path, 0o600);
  } catch (error) {
    throw createSocketFault(path, error instanceof Error ? error.message : String(error));
  }
}

/** Without `readableAll` and `writableAll` Windows lets only the owner and administrators write, so the test is to write. */
async function bindPipe(server: Server, path: string): Promise<void> {
  try {
    await listenOn(server, { path, readableAll: false, writableAll: false });
  } catch (error) {
    if (getErrorCode(error) === 'EADDRINUSE') throw createSocketInUseFault(path, error);
    throw createSocketFault(path, error instanceof Error ? error.message : String(error));
  }
}

/** In /tmp, which is used when the own path is too long for a socket, another user may have made the directory first. */
function makeDirectory(path: string): void {
  try {
    realFiles.mkdirAll(path, 0o700);
  } catch (error) {
    throw createSocketFault(path, error instanceof Error ? error.message : String(error));
  }
  checkDirectory(path);
}

function checkDirectory(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw createSocketFault(path, 'the directory is missing');
  if (!stat.isDirectory()) throw createSocketFault(path, 'is not a directory');
  const uid = process.getuid?.();
  if (uid === undefined) return; // this platform has no modes; the user profile is private by itself
  if (stat.uid !== uid) throw createSocketFault(path, `belongs to user ${stat.uid}, not to this user (${uid})`);
  if ((stat.mode & 0o077) !== 0)
    throw createSocketFault(path, `has mode ${(stat.mode & 0o777).toString(8)}, and others may enter`);
}

/** Moves aside whatever has the name of the socket. The folder is ours alone, so nobody else needs it there. */
async function clearSocketPath(path: string, log: Log): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isSocket()) {
    const aside = `${path}.set-aside-${Date.now()}`;
    try {
      realFiles.rename(path, aside);
    } catch (error) {
      throw createSocketFault(
        path,
        `is not a socket and cannot be moved aside: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    log.warn(`${path} was not a socket; it was renamed to ${aside}`, { path });
    return;
  }
  if (await isAnswering(path)) throw createSocketInUseFault(path);
  unlinkSync(path);
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false)); // refused: its owner is dead
  });
}

function listenOn(server: Server, where: Parameters<Server['listen']>[0]): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(error);
    server.once('error', failed);
    server.listen({ ...where, backlog: BACKLOG }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function createSocketInUseFault(path: string, cause?: unknown): Fault {
  const scope = { is: 'machine', key: `file:${path}` } as const;
  return new Fault('port-taken', `a running Hivebar answers on ${path}`, scope, cause === undefined ? {} : { cause });
}

function createSocketFault(path: string, why: string): Fault {
  return new Fault('unwritable', `${path}: ${why}`, { is: 'machine', key: `file:${path}` });
}
