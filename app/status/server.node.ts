import type { Server } from 'node:http';
import { Fault } from '../../core/model/index.ts';
import { realRandom } from '../../core/ports/index.ts';
import { createApp } from './app.node.ts';
import { createFrontServer } from './front-server.node.ts';
import type { ListenerKind } from './guard.ts';
import { bindLoopback, bindOwnerSocket } from './listen.node.ts';
import { createOnceCodes } from './once-codes.ts';
import type { StatusOptions } from './status-options.ts';

export interface StatusServer extends AsyncDisposable {
  readonly port: number;
  /** The addresses of the server, `http://127.0.0.1:PORT/` first. */
  readonly urls: readonly string[];
  /** Every route, as `METHOD /path/:param` in the form of the router. */
  readonly routes: readonly string[];
  /**
   * Creates a link for the owner's browser that works once, within a minute: `http://127.0.0.1:PORT/#once=CODE`, for one persona
   * `...&persona=ID`. The page exchanges the code for the token (`POST /api/v1/token`).
   */
  createOnceLink(persona: string | null): string;
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
  const createOnceLink = (persona: string | null): string => {
    const personaParam = persona === null ? '' : `&persona=${encodeURIComponent(persona)}`;
    return `http://127.0.0.1:${port}/#once=${once.make()}${personaParam}`;
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
    return { port, urls, routes: app.routes, createOnceLink, [Symbol.asyncDispose]: stop };
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
