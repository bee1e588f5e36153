import type { Server } from 'node:http';
import type { Board } from '../../core/board/index.ts';
import type { HistoryReader } from '../../core/history/index.ts';
import { Fault } from '../../core/model/index.ts';
import { type Clock, type Log, realRandom } from '../../core/ports/index.ts';
import type { ActionTable } from './action-routes.ts';
import { createApp } from './app.node.ts';
import type { DaemonKeys } from './callers.ts';
import type { DecisionsApi } from './decision-routes.ts';
import { frontServer } from './front.node.ts';
import type { Place } from './guard.ts';
import type { HiveApi } from './hive-routes.ts';
import { bindLoopback, bindOwnerSocket } from './listen.node.ts';
import type { Metric } from './metrics.ts';
import { createOnce } from './once.ts';
import type { PageAssets } from './page-assets.ts';
import type { ProjectsApi } from './project-routes.ts';
import type { SignalsApi } from './signals-routes.ts';
import type { EventLog } from './stream.ts';

export interface StatusOptions {
  readonly board: Board;
  readonly hive: HiveApi;
  readonly actions: ActionTable;
  readonly decisions: DecisionsApi;
  readonly events: EventLog;
  readonly history: HistoryReader;
  readonly projects: ProjectsApi;
  /** What the persona daemons of this machine export; absent: there are none. */
  readonly daemonMetrics?: () => readonly Metric[];
  readonly signals: SignalsApi;
  /** The tokens of the installed daemons. */
  readonly keys: DaemonKeys;
  readonly page: PageAssets;
  /** The secret of the run directory. */
  readonly token: string;
  /** Counts and states ask for it too (Decision 4): for a machine that others use. */
  readonly tokenEverywhere: boolean;
  /** 0 = any free one. */
  readonly port: number;
  /** Null: no owner-only socket. */
  readonly socketPath: string | null;
  readonly version: string;
  /** Who answers `/healthz`, so that a stale lock is told from a running Hivebar. */
  readonly instance: { readonly id: string; readonly pid: number };
  readonly clock: Clock;
  readonly log: Log;
}

export interface StatusServer extends AsyncDisposable {
  readonly port: number;
  /** Addresses that work, `http://127.0.0.1:PORT/` first. */
  readonly urls: readonly string[];
  /** Every route there is, `METHOD /path/:param`, as the router knows it. */
  readonly routes: readonly string[];
  /**
   * A link for the owner's browser, good once and for a minute: `http://127.0.0.1:PORT/#once=CODE`, for one persona
   * `...&persona=ID`. The page hands the code in for the token (`POST /api/v1/token`).
   */
  onceLink(persona: string | null): string;
}

/** A stop waits so long for answers that are on their way, then cuts. */
const GRACE_MS = 100;
/** With port 0: how often a port that is free on 127.0.0.1 but taken on ::1 is given back for another. */
const TRIES = 5;

/**
 * Serves page, JSON, stream, local hive and actions on 127.0.0.1, on ::1 where the machine has it (field report S13), and
 * on a socket only its owner can open. Dispose stops it within 0.2 s, held requests and open streams included.
 *
 * @throws Fault `port-taken` when port or socket belong to another program; `unwritable` when the socket can not be made.
 */
export async function startStatus(options: StatusOptions): Promise<StatusServer> {
  let port = options.port;
  const once = createOnce({ clock: options.clock, random: realRandom });
  const app = await createApp(options, { port: () => port, run: realRandom.hex(8), once });
  const onceLink = (persona: string | null): string => {
    const of = persona === null ? '' : `&persona=${encodeURIComponent(persona)}`;
    return `http://127.0.0.1:${port}/#once=${once.make()}${of}`;
  };
  const loopback = (): Place => ({ is: 'loopback', port });
  const servers: Server[] = [];
  const stop = async (): Promise<void> => {
    const closed = Promise.all(servers.map(closing));
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
      const four = frontServer(loopback, app);
      const six = frontServer(loopback, app);
      const bound = await bindLoopback(four, '127.0.0.1', options.port);
      if (bound.is === 'unavailable')
        throw new Fault('port-taken', '127.0.0.1 can not be used', { is: 'machine', key: 'port' });
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
          await closing(four);
          continue;
        }
        if (!(error instanceof Fault)) throw error;
        // localhost may then lead a browser to a stranger; our own address is printed with 127.0.0.1 and still works
        options.log.warn(`not served on ::1: ${error.message}`, { port });
        urls.push(`http://127.0.0.1:${port}/`);
        break;
      }
    }
    if (options.socketPath !== null) {
      const owner = frontServer(() => ({ is: 'owner-socket' }), app);
      await bindOwnerSocket(owner, options.socketPath, options.log);
      servers.push(owner);
    }
    return { port, urls, routes: app.routes, onceLink, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
