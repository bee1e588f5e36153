import { Fault, parseJson } from '../../model/index.ts';
import { O } from '../../ports/index.ts';
import type { Disk } from '../../state/index.ts';
import { isRecord } from './message.ts';

/** A change of mail that the event log of a city names. */
export interface MailChange {
  readonly seq: number;
  readonly type: string;
  /** The id of the message. */
  readonly message: string;
}

/** Reads what is added to the event log of a city, which is never changed. */
export interface EventLogReader {
  /** Returns the changes of mail since the last call, each once. The first call returns those that are in the file already. */
  read(): readonly MailChange[];
}

const TYPES: ReadonlySet<unknown> = new Set([
  'mail.sent',
  'mail.read',
  'mail.archived',
  'mail.marked_read',
  'mail.marked_unread',
  'mail.replied',
  'mail.deleted',
]);

const READ_BYTES = 64 * 1024;
/** What one call reads at most. A longer rest is skipped, because a change of mail is a hint and no more. */
const MOST_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Only whole lines are read. A line that is still being written is read when it is complete. */
export function createEventLogReader({ files }: Pick<Disk, 'files'>, path: string): EventLogReader {
  let position = 0;
  let file = { dev: 0, ino: 0 };
  let lastSeq = 0;

  function parse(line: string): MailChange | null {
    let event: unknown;
    try {
      event = parseJson(line);
    } catch {
      return null; // a damaged line is nobody's mail, and the list has what it was about
    }
    if (!isRecord(event) || !TYPES.has(event.type)) return null;
    const { seq, type, subject } = event;
    if (typeof seq !== 'number' || seq <= lastSeq || typeof type !== 'string' || typeof subject !== 'string')
      return null;
    lastSeq = seq;
    return { seq, type, message: subject };
  }

  function readAdded(fd: number, size: number): Buffer {
    if (size - position > MOST_BYTES) position = size - MOST_BYTES;
    const parts: Buffer[] = [];
    let at = position;
    while (at < size) {
      const chunk = Buffer.alloc(Math.min(READ_BYTES, size - at));
      const count = files.read(fd, chunk, at);
      if (count === 0) break;
      parts.push(chunk.subarray(0, count));
      at += count;
    }
    return Buffer.concat(parts);
  }

  return {
    read() {
      let fd: number;
      try {
        fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
      } catch {
        return []; // no log, or none that we may read: the list tells what changed
      }
      try {
        const { kind, size, dev, ino } = files.fstat(fd);
        if (kind !== 'file') return [];
        if (dev !== file.dev || ino !== file.ino || size < position) position = 0;
        file = { dev, ino };
        const added = readAdded(fd, size);
        const end = added.lastIndexOf(NEWLINE) + 1;
        position += end;
        const lines = added.subarray(0, end).toString('utf8').split('\n');
        return lines.flatMap((line) => parse(line) ?? []);
      } catch (error) {
        if (error instanceof Fault) throw error;
        return [];
      } finally {
        files.close(fd);
      }
    },
  };
}
