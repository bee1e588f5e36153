import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../core/ports/index.ts';
import { type Service, whileNeeded } from '../../core/services/index.ts';

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
interface Connections {
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

/** The two ends of a TCP connection, as one of them sees it. */
export interface ConnectionEnds {
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
}

/** All connections of this machine by the ports of their two ends. The rows are in the form of the system. */
type ConnectionTable = ReadonlyMap<string, readonly string[]>;

/** What the system reports about one end of a connection. */
interface ConnectionRow {
  /** The user who owns this end. */
  readonly uid: number;
  /** The number of bytes that arrived and that nobody has read. */
  readonly unread: number;
}

/** The tables of this network namespace. A system without IPv6 lacks the second. */
const FILES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** A table that changes during the read may miss a row, so it is read several times. */
const TRIES = 3;

/**
 * Whether another user owns the far end of a connection from this machine. Only Linux reports this, in `/proc/net/tcp`, and only
 * if the table also has our own end of the connection. On other systems the answer is always false.
 */
export function isOtherUser(socket: Socket): boolean {
  const uid = process.getuid?.();
  const ends = process.platform === 'linux' && uid !== undefined ? findEnds(socket) : null;
  if (ends === null) return false;
  for (let tries = 1; ; tries += 1) {
    const table = readTable();
    const peer = findRow(table, reverse(ends));
    if (peer !== null) return peer.uid !== uid;
    // If our own end is missing, too, the table says nothing. Otherwise the far end has closed or left no trace.
    if (tries === TRIES) return findRow(table, ends)?.uid === uid;
  }
}

/**
 * Returns how many bytes the far end of a connection from this machine has not read, or null where the system does not report it.
 */
export function countUnread(table: ConnectionTable, socket: Socket): number | null {
  const ends = findEnds(socket);
  return ends === null ? null : (findRow(table, reverse(ends))?.unread ?? null);
}

/** Returns an empty table where the system has none. */
export function readTable(): ConnectionTable {
  return parseTable(process.platform === 'linux' ? FILES.map(readText) : []);
}

const PORTS = /:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) /;

/** Parses texts in the form of `/proc/net/tcp` and `/proc/net/tcp6`. */
export function parseTable(texts: readonly string[]): ConnectionTable {
  const table = new Map<string, string[]>();
  for (const row of texts.flatMap((text) => text.split('\n'))) {
    const ports = PORTS.exec(row);
    if (ports === null) continue;
    const key = `${ports[1]}:${ports[2]}`;
    const rows = table.get(key);
    if (rows === undefined) table.set(key, [row]);
    else rows.push(row);
  }
  return table;
}

function reverse({ local, remote }: ConnectionEnds): ConnectionEnds {
  return { local: remote, remote: local };
}

function findEnds({ localAddress, localPort, remoteAddress, remotePort }: Socket): ConnectionEnds | null {
  if (localAddress === undefined || localPort === undefined) return null;
  if (remoteAddress === undefined || remotePort === undefined) return null;
  return {
    local: { address: localAddress, port: localPort },
    remote: { address: remoteAddress, port: remotePort },
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // this system has no such file
  }
}

/** Finds the socket with these ends. Returns null when no row has them. */
export function findRow(table: ConnectionTable, { local, remote }: ConnectionEnds): ConnectionRow | null {
  for (const row of table.get(`${formatPort(local.port)}:${formatPort(remote.port)}`) ?? []) {
    // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
    const [, ourEnd = '', farEnd = '', , queues = '', , , uid = ''] = row.trim().split(/\s+/);
    if (isAt(ourEnd, local) && isAt(farEnd, remote))
      return { uid: Number(uid), unread: Number.parseInt(queues.split(':')[1] ?? '', 16) };
  }
  return null;
}

function isAt(end: string, { address }: ConnectionEnds['local']): boolean {
  return parseAddress(end.slice(0, end.indexOf(':'))) === unmapAddress(address);
}

function formatPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/**
 * Returns IPv4 in dotted form, also where it is mapped into IPv6, and `::1`. Any other address is not loopback and stays as it
 * is.
 */
function parseAddress(hex: string): string {
  // The address has words of 32 bits, each in the byte order of a little-endian machine.
  const words = hex.match(/.{8}/g)?.map((word) => (word.match(/../g) ?? []).toReversed().join('')) ?? [];
  const bytes = words.join('');
  if (bytes === `${'0'.repeat(31)}1`) return '::1';
  const four = bytes.length === 8 ? bytes : /^0{20}FFFF(.{8})$/.exec(bytes)?.[1];
  return four === undefined ? bytes : (four.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join('.');
}

function unmapAddress(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '');
}

/** Finds stream readers that do not read. */
export interface UnreadReaders {
  /** Checks the readers again and again while there are some. */
  readonly service: Service;
  /**
   * Adds a reader. `drop` is called when its client does not read what it was sent. Dispose the result when the reader has gone.
   */
  add(socket: Socket, drop: () => void): Disposable;
}

const CHECK_EVERY_MS = 10_000;
/**
 * A reader is dropped after this many checks in a row, each with unread bytes and none with fewer than before: half a minute
 * without a byte read.
 */
const MAX_STUCK_CHECKS = 4;

interface UnreadReader {
  readonly socket: Socket;
  readonly drop: () => void;
  /** The number of the previous check. */
  unread: number;
  stuckChecks: number;
}

/**
 * Finds readers that hold a place and read nothing. A write succeeds as long as the system has room for it, which is megabytes,
 * so a quiet stream never notices. On Linux `/proc/net/tcp` shows it, because both ends of a connection are on this machine. A
 * reader that is dropped can reconnect with its Last-Event-ID and loses nothing.
 */
export function watchUnread(clock: Clock): UnreadReaders {
  const readers = new Set<UnreadReader>();

  const checkReaders = (): void => {
    if (readers.size === 0) return;
    const table = readTable();
    for (const reader of readers) {
      const unread = countUnread(table, reader.socket) ?? 0;
      reader.stuckChecks = unread > 0 && unread >= reader.unread ? reader.stuckChecks + 1 : 0;
      reader.unread = unread;
      if (reader.stuckChecks >= MAX_STUCK_CHECKS) reader.drop();
    }
  };
  const service = whileNeeded({
    name: 'readers that do not read',
    ms: CHECK_EVERY_MS,
    isNeeded: () => readers.size > 0,
    round: checkReaders,
    clock,
  });
  return {
    service,
    add: (socket, drop) => {
      const reader: UnreadReader = { socket, drop, unread: 0, stuckChecks: 0 };
      readers.add(reader);
      service.wake();
      return { [Symbol.dispose]: () => void readers.delete(reader) };
    },
  };
}
