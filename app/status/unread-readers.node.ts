import type { Socket } from 'node:net';
import type { Clock } from '../../core/ports/index.ts';
import { type Service, whileNeeded } from '../../core/services/index.ts';
import { countUnread, readTable } from './connection-table.node.ts';

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
