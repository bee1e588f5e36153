import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** The two ends of a TCP connection, as one of them sees it. */
export interface ConnectionEnds {
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
}

/** All connections of this machine by the ports of their two ends. The rows are in the form of the system. */
export type ConnectionTable = ReadonlyMap<string, readonly string[]>;

/** What the system reports about one end of a connection. */
export interface ConnectionRow {
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
