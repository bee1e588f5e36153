import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How long a client may take, in milliseconds; each is looked after within `check`. */
export interface Patience {
  /** For its headers, from the connection or the end of the request before. */
  readonly headers: number;
  /** For its whole request. */
  readonly request: number;
  /** Between two requests. */
  readonly idle: number;
  /** For taking an answer that is complete. */
  readonly drain: number;
  readonly check: number;
}

/** The connections of one listener. Those of token holders have a budget of their own. */
export interface Connections {
  /** Counts a new connection. Where the budget is used up, another gives way: one that asks nothing, the oldest first. */
  add(socket: Socket): void;
  begin(socket: Socket, response: ServerResponse): void;
  /** It is no HTTP any more: whoever took it over ends it. */
  upgrade(socket: Duplex): void;
  /** Its client has shown a token. */
  trust(socket: Duplex): void;
}

interface HttpConnection {
  readonly socket: Socket;
  readonly since: number;
  /** Answers that are not over. */
  readonly answers: Map<ServerResponse, { completeSince: number | null }>;
  hasRequested: boolean;
  isUpgraded: boolean;
  isTrusted: boolean;
}

/**
 * Connections of each kind. More than twice as many as the system hands over at once (511): in a flood of connections, one
 * that asks has been read before it is the oldest that has not asked.
 */
const MOST = 1536;
/** So long a new connection is not the one that gives way, up to twice as many. */
const UNREAD_MS = 2000;
/** An ended connection is destroyed after so long, whatever the far end does. */
const LINGER_MS = 500;

export function watchConnections(patience: Patience): Connections {
  const open = new Map<Duplex, HttpConnection>();
  /** Those that have not asked yet, the oldest first. */
  const silent = new Set<HttpConnection>();
  let trusted = 0;
  let sweeps: NodeJS.Timeout | null = null;

  const sweep = (): void => {
    const now = performance.now();
    for (const { socket, since, answers, hasRequested } of open.values()) {
      // The parser says 408 to it; one that is still there a moment later does not listen.
      if (!hasRequested && now - since >= patience.headers + LINGER_MS) socket.destroy();
      for (const [response, answer] of answers) {
        if (!response.writableEnded) continue;
        answer.completeSince ??= now;
        if (now - answer.completeSince >= patience.drain) socket.destroy();
      }
    }
  };
  const makeRoom = (isTrusted: boolean): void => {
    for (let count = isTrusted ? trusted : open.size - trusted; count >= MOST; count -= 1) {
      const [oldest] = isTrusted ? [] : silent;
      // Many come at once when many were ended at once: what it asks may not have been read yet.
      if (oldest !== undefined && count < 2 * MOST && performance.now() - oldest.since < UNREAD_MS) return;
      const evicted = oldest ?? findIdle([...open.values()].filter((connection) => connection.isTrusted === isTrusted));
      if (evicted === undefined) return;
      forget(evicted);
      evicted.socket.destroy();
    }
  };
  const forget = (connection: HttpConnection): void => {
    if (open.delete(connection.socket) && connection.isTrusted) trusted -= 1;
    silent.delete(connection);
  };
  const markRequested = (connection: HttpConnection): void => {
    connection.hasRequested = true;
    silent.delete(connection);
  };

  return {
    add: (socket) => {
      makeRoom(false);
      const states = { hasRequested: false, isUpgraded: false, isTrusted: false };
      const connection: HttpConnection = { socket, since: performance.now(), answers: new Map(), ...states };
      open.set(socket, connection);
      silent.add(connection);
      sweeps ??= setInterval(sweep, patience.check).unref();
      socket.once('close', () => {
        forget(connection);
        if (open.size > 0 || sweeps === null) return;
        clearInterval(sweeps);
        sweeps = null;
      });
    },
    begin: (socket, response) => {
      const connection = open.get(socket);
      if (connection === undefined) return;
      markRequested(connection);
      connection.answers.set(response, { completeSince: null });
      response.once('close', () => connection.answers.delete(response));
    },
    upgrade: (socket) => {
      const connection = open.get(socket);
      if (connection === undefined) return;
      markRequested(connection);
      connection.isUpgraded = true;
    },
    trust: (socket) => {
      const connection = open.get(socket);
      if (connection === undefined || connection.isTrusted) return;
      makeRoom(true);
      connection.isTrusted = true;
      trusted += 1;
    },
  };
}

/** The oldest that waits for nothing, else the oldest. */
function findIdle(connections: readonly HttpConnection[]): HttpConnection | undefined {
  return connections.find(({ answers, isUpgraded }) => answers.size === 0 && !isUpgraded) ?? connections[0];
}

/** Ends a connection with these last bytes. It is destroyed soon after, also where the far end never closes its side. */
export function endSoon(socket: Duplex, bytes: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.on('error', () => {}); // it left without its answer
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
  socket.end(bytes);
}
