import type { Files } from '../ports/index.ts';
import type { Event } from './event.ts';
import {
  type EventLinePosition,
  type FileId,
  type FollowStartPoint,
  findFileId,
  findOldestId,
  findStart,
  isSameFile,
  type OpenEventFile,
  openEventFiles,
  readWholeLines,
} from './event-files.ts';
import { watchFile } from './file-changes.node.ts';
import { parseEventLine } from './line.ts';
import { readRange } from './tail.ts';

export interface FollowedLine {
  /** The line as it is in the file, without its newline. */
  readonly text: string;
  readonly event: Event;
  /** Where the line ends: the position from which to continue after a restart. */
  readonly place: EventLinePosition;
}

/** The result of one read. */
export type FollowResult =
  /** `foreign` counts lines that are no events. They are left out. */
  | { readonly is: 'lines'; readonly lines: readonly FollowedLine[]; readonly foreign: number }
  /** More files were rotated away than are kept. Events between `after` and the next one may be missing. */
  | { readonly is: 'gap'; readonly after: string | null }
  /** There are no more events for now. */
  | { readonly is: 'end' };

export interface EventFollower extends Disposable {
  /**
   * The next whole lines that were not returned yet, some hundred kilobytes per call.
   * @throws what the file system throws, and Fault `unreadable`
   */
  next(): FollowResult;
}

export type FollowerOpening =
  | { readonly is: 'open'; readonly follower: EventFollower; readonly isEmpty: boolean }
  /** The event to begin after is no longer kept. */
  | { readonly is: 'unknown'; readonly oldest: string | null };

const BATCH = 256 * 1024;
/** How many files that were read stay open, so that they are recognised whatever their names are. */
const ANCHORS = 8;
/** The length of a line's end that is compared, long enough to hold its event id. */
const SAMPLE = 1024;

/**
 * Reads an event file and its archives as one sequence of events, each once and in order (docs/contract/event-files.md).
 * A file that is renamed or deleted meanwhile is read to its end through its descriptor. A file that became shorter, or has other
 * content, is read again from its beginning. Events that were returned are not returned again.
 * @throws like `next`
 */
export function openFollower(files: Files, path: string, from: FollowStartPoint): FollowerOpening {
  const handedOver = createRecentIds();
  const first = openEventFiles(files, path);
  let queue: readonly OpenEventFile[] = [];
  /** Files that were read, the newest last. They stay open, so that no other file can get their numbers. */
  let read: readonly OpenEventFile[] = [];
  let reading: { readonly file: OpenEventFile; offset: number; sample: Uint8Array } | null = null;
  let lastId: string | null = null;

  const closeAll = (openFiles: readonly OpenEventFile[]): void => {
    for (const { fd } of openFiles) files.close(fd);
  };
  const beginFile = (file: OpenEventFile, offset: number): void => {
    reading = { file, offset, sample: readSample(files, file.fd, offset) };
  };

  const start = findStart(files, first, from);
  if (start === null) {
    const oldest = findOldestId(files, first);
    closeAll(first);
    return { is: 'unknown', oldest };
  }
  for (const id of start.before) handedOver.add(id);
  if (from.is === 'after') handedOver.add(from.eventId);
  lastId = start.before.at(-1) ?? null;
  const at = start.spot.index;
  closeAll(first.slice(0, Math.max(0, at - ANCHORS)));
  read = first.slice(Math.max(0, at - ANCHORS), at);
  queue = first.slice(at + 1);
  const startFile = first[at];
  if (startFile !== undefined) beginFile(startFile, start.spot.offset);

  /** The next lines of the current file, and whether any bytes were read. */
  function readLines(): { readonly lines: FollowedLine[]; readonly foreign: number; readonly passed: boolean } {
    const lines: FollowedLine[] = [];
    let foreign = 0;
    if (reading === null) return { lines, foreign, passed: false };
    const { file } = reading;
    if (!isUnchanged(files, file.fd, reading)) beginFile(file, 0);
    const began = reading.offset;
    for (const { text, end } of readWholeLines(files, file.fd, began)) {
      reading.offset = end;
      const event = parseEventLine(text);
      if (event === null) foreign += 1;
      else if (!handedOver.has(event.event_id)) {
        handedOver.add(event.event_id);
        lastId = event.event_id;
        lines.push({ text, event, place: { ...file.id, offset: end } });
      }
      if (end - began >= BATCH) break;
    }
    const passed = reading.offset > began;
    if (passed) reading.sample = readSample(files, file.fd, reading.offset);
    return { lines, foreign, passed };
  }

  function leaveFile(): void {
    if (reading === null) return;
    const readFiles = [...read, reading.file];
    reading = null;
    closeAll(readFiles.slice(0, -ANCHORS));
    read = readFiles.slice(-ANCHORS);
  }

  /** Finds the files that come after those that were read. */
  function findUnreadFiles(): { readonly mayLack: boolean } {
    const listed = openEventFiles(files, path);
    const known = reading === null ? read : [...read, reading.file];
    const { unread, mayLack } = findNextFiles(
      known.map(({ id }) => id),
      listed,
    );
    closeAll(listed.filter((file) => !unread.includes(file)));
    queue = unread;
    return { mayLack };
  }

  function next(): FollowResult {
    for (;;) {
      if (reading === null) {
        if (queue.length === 0) findUnreadFiles();
        const [file, ...rest] = queue;
        if (file === undefined) return { is: 'end' };
        queue = rest;
        beginFile(file, 0);
      }
      const isComplete = queue.length > 0 || !isLive();
      // This is checked before the last read: lines that a writer appended before the file was renamed are read now.
      const { lines, foreign, passed } = readLines();
      if (lines.length > 0 || foreign > 0) return { is: 'lines', lines, foreign };
      if (passed) continue;
      if (!isComplete) return { is: 'end' };
      if (queue.length === 0) {
        const { mayLack } = findUnreadFiles();
        if (queue.length === 0) return { is: 'end' };
        leaveFile();
        if (mayLack) return { is: 'gap', after: lastId };
      } else leaveFile();
    }
  }

  function isLive(): boolean {
    const now = findFileId(files, path);
    return reading !== null && now !== null && isSameFile(reading.file.id, now);
  }

  const follower: EventFollower = {
    next,
    [Symbol.dispose]() {
      closeAll([...read, ...queue, ...(reading === null ? [] : [reading.file])]);
      read = [];
      queue = [];
      reading = null;
    },
  };
  return { is: 'open', follower, isEmpty: first.length === 0 };
}

function readSample(files: Files, fd: number, offset: number): Uint8Array {
  return readRange(files, fd, Math.max(0, offset - SAMPLE), offset);
}

/** False when the file was truncated, or truncated and written anew: the bytes before the offset are not what was read. */
function isUnchanged(
  files: Files,
  fd: number,
  { offset, sample }: { readonly offset: number; readonly sample: Uint8Array },
): boolean {
  if (files.fstat(fd).size < offset) return false;
  return Buffer.compare(readSample(files, fd, offset), sample) === 0;
}

/**
 * Yields everything that a follower finds in a file, now and later, until `signal` aborts. @throws like `next` of the follower
 */
export async function* follow(
  follower: EventFollower,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Exclude<FollowResult, { is: 'end' }>, void> {
  let changed = false;
  let wake: (() => void) | null = null;
  const onChange = (): void => {
    changed = true;
    wake?.();
  };
  using _changes = watchFile(path, onChange);
  signal.addEventListener('abort', onChange, { once: true });
  while (!signal.aborted) {
    changed = false;
    const result = follower.next();
    if (result.is !== 'end') yield result;
    else if (!changed) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

interface NextFiles {
  /** The files to read next, oldest first. */
  readonly unread: readonly OpenEventFile[];
  /** Files that nobody read may be gone. There may be a gap between the last file read and the first unread one. */
  readonly mayLack: boolean;
}

/**
 * Finds the files that come after those that were read. `read` holds some of these, the newest last. They must still be open,
 * since only then does an equal number mean the same file. Every file that is listed before one of them was read as well.
 */
function findNextFiles(read: readonly FileId[], listed: readonly OpenEventFile[]): NextFiles {
  const known = listed.findLastIndex(({ id }) => read.some((readId) => isSameFile(readId, id)));
  const unread = listed.slice(known + 1);
  // While a file that was read is listed, no newer file was rotated away. A live file alone means that somebody deleted the last
  // one and it was created anew. An unread archive was rotated away after the last file read, and so may others before it.
  const isAnyListed = read.length === 0 || known !== -1;
  return { unread, mayLack: !isAnyListed && unread.some(({ is }) => is === 'archive') };
}

/** The newest event ids that were returned, in bounded number. */
interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
}

/** How many ids are remembered at least, once there were as many. At the default size, five archives of mail have fewer lines. */
const KNOWN = 1 << 17;

/** Keeps two halves and forgets the older one as a whole. So no order is stored, and a look-up tests two sets at most. */
export function createRecentIds(known: number = KNOWN): RecentIds {
  let newer = new Set<string>();
  let older: ReadonlySet<string> = new Set();
  return {
    has: (id) => newer.has(id) || older.has(id),
    add(id) {
      newer.add(id);
      if (newer.size < known) return;
      older = newer;
      newer = new Set();
    },
  };
}
