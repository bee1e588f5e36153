import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Fault } from '../../core/model/index.ts';
import { type Log, realFiles } from '../../core/ports/index.ts';
import { getMaxSocketPathBytes } from '../owner-socket.ts';

/**
 * How many connections may wait to be accepted; the system may allow fewer. With Node's 511, a crowd that connects at once fills the
 * queue, and the system repeats the owner's attempt only after a second.
 */
const BACKLOG = 4096;

/** The result of a bind. `unavailable` means that the machine has no such address. */
export type BindResult = { readonly is: 'bound'; readonly port: number } | { readonly is: 'unavailable' };

/**
 * Binds one loopback address. Port 0 takes any free port.
 *
 * @throws Fault `port-taken` when something else listens there.
 */
export async function bindLoopback(server: Server, host: '127.0.0.1' | '::1', port: number): Promise<BindResult> {
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
  if (!stat.isDirectory()) throw createSocketFault(path, 'is no directory');
  const uid = process.getuid?.();
  if (uid === undefined) return; // this platform has no modes; the user profile is private by itself
  if (stat.uid !== uid) throw createSocketFault(path, `belongs to user ${stat.uid}, not to us (user ${uid})`);
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
        `is no socket and cannot be moved aside: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    log.warn(`${path} was no socket: it is ${aside} now`, { path });
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
