import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** The ends of a TCP connection, as one of them sees it. */
export interface Ends {
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
}

/** Tables of all connections of this network namespace; a system without IPv6 lacks the second. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** What the system knows of one end of a connection. */
export interface Row {
  /** Whose it is. */
  readonly uid: number;
  /** Bytes that have arrived there and that nobody has read. */
  readonly unread: number;
}

/** A table that changes while it is read may leave a row out. */
const TRIES = 3;

/**
 * Whether another user holds the far end of a connection from this machine. Only Linux tells it, in `/proc/net/tcp`; that it
 * does is proved by our own end of the same connection. Elsewhere the answer is always no.
 */
export function isOtherUser(socket: Socket): boolean {
  const uid = process.getuid?.();
  const ends = process.platform === 'linux' && uid !== undefined ? findEnds(socket) : null;
  if (ends === null) return false;
  for (let tries = 1; ; tries += 1) {
    const tables = readTables();
    const peer = findRow(tables, reverse(ends));
    if (peer !== null) return peer.uid !== uid;
    // Where the table lacks our own end too, it tells nothing here. Else the far end has closed, or left no trace.
    if (tries === TRIES) return findRow(tables, ends)?.uid === uid;
  }
}

/** Bytes that the far end of a connection from this machine has not read; null where the system does not tell. */
export function countUnread(tables: readonly string[], socket: Socket): number | null {
  const ends = findEnds(socket);
  return ends === null ? null : (findRow(tables, reverse(ends))?.unread ?? null);
}

/** The tables of all connections, empty where the system has none. */
export function readTables(): readonly string[] {
  return process.platform === 'linux' ? TABLES.map(readTable) : [];
}

function reverse({ local, remote }: Ends): Ends {
  return { local: remote, remote: local };
}

function findEnds({ localAddress, localPort, remoteAddress, remotePort }: Socket): Ends | null {
  if (localAddress === undefined || localPort === undefined) return null;
  if (remoteAddress === undefined || remotePort === undefined) return null;
  return {
    local: { address: localAddress, port: localPort },
    remote: { address: remoteAddress, port: remotePort },
  };
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // the system does not tell
  }
}

/** The socket with these ends; null: no row has them. Tables as in `/proc/net/tcp` and `/proc/net/tcp6`. */
export function findRow(tables: readonly string[], { local, remote }: Ends): Row | null {
  const ports = `${formatPort(local.port)} `;
  for (const table of tables) {
    for (const row of table.split('\n')) {
      if (!row.includes(ports)) continue;
      // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
      const [, ourEnd = '', farEnd = '', , queues = '', , , uid = ''] = row.trim().split(/\s+/);
      if (isEnd(ourEnd, local) && isEnd(farEnd, remote))
        return { uid: Number(uid), unread: Number.parseInt(queues.split(':')[1] ?? '', 16) };
    }
  }
  return null;
}

function isEnd(hex: string, { address, port }: Ends['local']): boolean {
  const colon = hex.indexOf(':');
  return hex.slice(colon) === formatPort(port) && parseAddress(hex.slice(0, colon)) === plain(address);
}

function formatPort(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** IPv4 in dotted form also where it is mapped; `::1`. Anything else is no loopback address, and stays as it stands. */
function parseAddress(hex: string): string {
  // Words of 32 bits, each in the byte order of a little-endian machine.
  const words = hex.match(/.{8}/g)?.map((word) => (word.match(/../g) ?? []).toReversed().join('')) ?? [];
  const bytes = words.join('');
  if (bytes === `${'0'.repeat(31)}1`) return '::1';
  const four = bytes.length === 8 ? bytes : /^0{20}FFFF(.{8})$/.exec(bytes)?.[1];
  return four === undefined ? bytes : (four.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join('.');
}

function plain(address: string): string {
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
