import { createRefusal, openLocked, toIoFault } from '../../state/index.ts';
import { formatEntryLine, type QueueEntry } from './entry.ts';
import type { QueueMachine } from './machine.ts';

const LF = 0x0a;
/** Longer than a drainer holds the lock, even on a busy disk. */
const WAIT_MS = 2000;

/**
 * Appends an entry to a queue as every writer does (inbox and gates 2): under the exclusive flock, with one write call per line.
 * It creates the file (0600) and its directories (0700). If the file ends in half a line of a writer that died, it starts a new
 * line. Nothing is synced: the queue only hands over, and the database stores.
 *
 * @throws Fault `unwritable` or `no-space`; then nothing of the line is in the file
 */
export function append({ disk, random, ways }: QueueMachine, path: string, entry: QueueEntry, waitMs = WAIT_MS): void {
  const locked = openLocked(disk, path, 'create', waitMs, ways);
  if (locked.is !== 'got') {
    throw createRefusal(path, `was locked by another process for ${waitMs} ms; the line was not written`, 'unwritable');
  }
  using file = locked.file;
  const { files } = disk;
  try {
    const { size } = files.fstat(file.fd);
    const last = new Uint8Array(1);
    const isTorn = size > 0 && files.read(file.fd, last, size - 1) === 1 && last[0] !== LF;
    const line = Buffer.from(`${isTorn ? '\n' : ''}${formatEntryLine(entry, toUuid(random.hex(16)))}`);
    let wrote = 0;
    try {
      wrote = files.write(file.fd, line);
    } finally {
      if (wrote !== line.length) files.ftruncate(file.fd, size);
    }
    if (wrote !== line.length) throw Object.assign(new Error('the disk took part of it'), { code: 'ENOSPC' });
  } catch (error) {
    throw toIoFault(error, path, 'unwritable');
  }
}

/** Makes a UUID of version 4 from 16 random bytes. */
function toUuid(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
  const [a, b, c, d, e] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20), hex.slice(20, 32)];
  return `${a}-${b}-4${c}-${variant}${d}-${e}`;
}
