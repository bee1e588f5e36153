import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { Registrations, Signals } from '../../core/inbox/signals/index.ts';
import { type Clock, type Log, realRandom } from '../../core/ports/index.ts';
import { type Service, whileNeeded } from '../../core/services/index.ts';
import { createUnauthorizedRefusal, HttpRefusal } from './answer.ts';
import type { RequestOrigin } from './front-server.node.ts';
import type { ListenerKind } from './guard.ts';
import { type Callers, type DaemonKey, openSessionConnection, type StreamClose, SUBPROTOCOL } from './session.ts';

/** The path of the stream. It is the only path that takes WebSocket connections. */
export const STREAM_PATH = '/v1/session/stream';

export interface SessionStreamOptions {
  readonly signals: Signals;
  readonly registrations: Registrations;
  readonly callers: Callers;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SessionStream extends Disposable {
  /** Pings the clients, and cuts those that do not answer. */
  readonly service: Service;
  /**
   * Takes over a connection whose request passed the guard.
   * @throws Refusal when it stays an HTTP request; then the caller must answer on the socket
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, origin: RequestOrigin): void;
  readonly open: number;
}

/** The most streams at once. Further ones are refused; each daemon or agent has only one. */
const MOST_STREAMS = 256;
const RETRY_AFTER_MS = 30_000;
const MOST_FRAME = 64 * 1024;
/** A client that leaves more than this unread is too slow. It is disconnected, and peeks after it has reconnected. */
const MOST_UNREAD = 256 * 1024;
const PING_MS = 15_000;
/** A close that the other end does not answer is cut after this time. */
const CLOSE_MS = 1000;

interface StreamConnection {
  readonly socket: WebSocket;
  /** Whether anything was received since the last ping. */
  isAlive: boolean;
}

/**
 * Creates the session stream (persona daemon, contract 2): frames that say who is connected, and what happened to its address.
 * `ws` is loaded with the first stream.
 */
export function createSessionStream(options: SessionStreamOptions): SessionStream {
  const { callers, clock, log } = options;
  const connections = new Set<StreamConnection>();
  let server: Promise<WebSocketServer> | null = null;
  let isOver = false;

  function loadServer(): Promise<WebSocketServer> {
    server ??= import('ws').then(
      ({ WebSocketServer: Server }) =>
        new Server({
          noServer: true,
          clientTracking: false,
          maxPayload: MOST_FRAME,
          perMessageDeflate: false,
          handleProtocols: () => SUBPROTOCOL,
        }),
    );
    return server;
  }

  function pingAll(): void {
    for (const connection of connections) {
      if (!connection.isAlive) connection.socket.terminate();
      else {
        connection.isAlive = false;
        connection.socket.ping();
      }
    }
  }

  const service = whileNeeded({
    name: 'session stream',
    ms: PING_MS,
    isNeeded: () => connections.size > 0,
    round: pingAll,
    clock,
  });

  function serve(socket: WebSocket, key: DaemonKey): void {
    const connection: StreamConnection = { socket, isAlive: true };
    connections.add(connection);
    service.wake();
    const end = ({ code, reason }: StreamClose): void => {
      if (socket.readyState !== socket.OPEN) return;
      socket.close(code, reason);
      clock.after(CLOSE_MS, () => socket.terminate());
    };
    const send = (text: string): void => {
      if (socket.bufferedAmount > MOST_UNREAD) socket.terminate();
      if (socket.readyState === socket.OPEN) socket.send(text);
    };
    const session = openSessionConnection({ ...options, newId: () => realRandom.hex(8) }, key, { send, end });
    socket.on('message', (data: RawData, isBinary: boolean) => {
      connection.isAlive = true;
      if (isBinary) return end({ code: 1003, reason: 'frames must be text' });
      session.receive(String(data));
    });
    const markAlive = (): void => {
      connection.isAlive = true;
    };
    socket.on('pong', markAlive);
    socket.on('ping', markAlive);
    socket.on('error', (error) => log.info(`a session stream broke: ${error.message}`, { identity: key.identity }));
    socket.once('close', () => {
      connections.delete(connection);
      session[Symbol.dispose]();
    });
    if (connections.size > MOST_STREAMS) {
      end({ code: 4429, reason: JSON.stringify({ retry_after_ms: RETRY_AFTER_MS }) });
    }
  }

  return {
    service,
    get open() {
      return connections.size;
    },
    upgrade(request, socket, head, { place, trust }) {
      const key = requireDaemonKey(request, place, callers);
      trust();
      // Until the library has the socket, nobody else would handle its errors.
      const destroySocket = (): void => void socket.destroy();
      socket.on('error', destroySocket);
      loadServer().then(
        (ready) => {
          socket.off('error', destroySocket);
          if (isOver || socket.destroyed) return void socket.destroy();
          ready.handleUpgrade(request, socket, head, (webSocket) => serve(webSocket, key));
        },
        (error: unknown) => {
          log.error('the session stream cannot be served', { error });
          socket.destroy();
        },
      );
    },
    [Symbol.dispose]() {
      isOver = true;
      for (const { socket } of connections) {
        socket.close(1001, 'hivebar stops');
        socket.terminate();
      }
      connections.clear();
    },
  };
}

/** Returns the key of the daemon whose stream it would be. @throws Refusal */
function requireDaemonKey(request: IncomingMessage, place: ListenerKind, callers: Callers): DaemonKey {
  const { url = '', headers, method, httpVersion } = request;
  const [path, ...query] = url.split('?');
  if (path !== STREAM_PATH)
    throw new HttpRefusal(404, 'no-route', 'this path does not support upgrades', `upgrade ${STREAM_PATH}`);
  const caller = callers.identify(headers.authorization);
  if (caller === 'nobody')
    throw place.is === 'owner-socket'
      ? createWrongScopeRefusal()
      : createUnauthorizedRefusal('a daemon token is required');
  if (caller === 'wrong') throw createUnauthorizedRefusal('the token is unknown');
  if (caller.is === 'owner') throw createWrongScopeRefusal();
  const subprotocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((subprotocol) => subprotocol.trim());
  const bad = (message: string, next: string): HttpRefusal => new HttpRefusal(400, 'bad-request', message, next);
  if (query.length > 0) throw bad('the stream does not accept a query', 'send the token in the header Authorization');
  if (method !== 'GET' || httpVersion !== '1.1')
    throw bad('a stream must be opened with GET and HTTP/1.1', 'use GET and HTTP/1.1');
  if (!subprotocols.includes(SUBPROTOCOL))
    throw bad(`only the subprotocol ${SUBPROTOCOL} is supported`, `offer the subprotocol ${SUBPROTOCOL}`);
  return caller.key;
}

function createWrongScopeRefusal(): HttpRefusal {
  const next = 'use the observe.token or act.token of an installed daemon';
  return new HttpRefusal(403, 'wrong-scope', 'this token belongs to neither a daemon nor a surface', next);
}
