import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The time limits of a client, in milliseconds. They are checked every `check` milliseconds. */
export interface Patience {
  /** The time to send headers, counted from the connection or from the end of the previous request. */
  readonly headers: number;
  /** The time to send the whole request. */
  readonly request: number;
  /** The time between two requests. */
  readonly idle: number;
  /** The time to receive an answer that is complete. */
  readonly drain: number;
  readonly check: number;
}

/** The connections of one listener. Clients with a token have a budget of their own. */
export interface Connections {
  /**
   * Counts a new connection. When the budget is used up, another connection is closed: the oldest that has sent no request, if
   * there is one.
   */
  add(socket: Socket): void;
  begin(socket: Socket, response: ServerResponse): void;
  /** Marks a connection as no longer HTTP. Whoever took it over ends it. */
  upgrade(socket: Duplex): void;
  /** Marks that the client has shown a token. */
  trust(socket: Duplex): void;
}

interface HttpConnection {
  readonly socket: Socket;
  readonly since: number;
  /** Answers that are not finished. */
  readonly answers: Map<ServerResponse, { completeSince: number | null }>;
  hasRequested: boolean;
  isUpgraded: boolean;
  isTrusted: boolean;
}

/**
 * The limit for each kind of connection. It is more than twice what the system hands over at once (511). So in a flood of
 * connections, a client that sends a request is read before it becomes the oldest silent one.
 */
const MOST = 1536;
/** A new connection is not closed for this long, until there are twice as many as the limit. */
const UNREAD_MS = 2000;
/** After this time an ended connection is destroyed, whatever the far end does. */
const LINGER_MS = 500;

export function watchConnections(patience: Patience): Connections {
  const open = new Map<Duplex, HttpConnection>();
  /** Connections without a request so far, the oldest first. */
  const silent = new Set<HttpConnection>();
  let trusted = 0;
  let sweeps: NodeJS.Timeout | null = null;

  const sweep = (): void => {
    const now = performance.now();
    for (const { socket, since, answers, hasRequested } of open.values()) {
      // The parser answers 408. A connection that is still open a moment later does not listen.
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
      // After many were closed at once, many new ones may arrive at once. Their requests may not have been read yet.
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

/** Returns the oldest connection that waits for nothing, or else the oldest of all. */
function findIdle(connections: readonly HttpConnection[]): HttpConnection | undefined {
  return connections.find(({ answers, isUpgraded }) => answers.size === 0 && !isUpgraded) ?? connections[0];
}

/** Sends these last bytes and ends the connection. It is destroyed soon after, even if the far end never closes its side. */
export function endSoon(socket: Duplex, bytes: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.on('error', () => {}); // the client left before the answer
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
  socket.end(bytes);
}
