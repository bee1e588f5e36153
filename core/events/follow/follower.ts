import type { Files } from '../../ports/index.ts';
import type { Event } from '../event.ts';
import { parseEventLine } from '../line.ts';
import { readRange } from '../tail.ts';
import { findFileId, isSameFile, type OpenEventFile, openEventFiles } from './event-files.ts';
import { findNextFiles } from './next-files.ts';
import { createRecentIds } from './recent-ids.ts';
import { type EventLinePosition, type FollowStartPoint, findOldestId, findStart } from './start.ts';
import { readWholeLines } from './whole-lines.ts';

export interface FollowedLine {
  /** The line as it stands in the file, without its newline. */
  readonly text: string;
  readonly event: Event;
  /** Where it ends: what to go on from after a restart. */
  readonly place: EventLinePosition;
}

/** What comes next. */
export type FollowResult =
  /** `foreign` lines are no events, and left out. */
  | { readonly is: 'lines'; readonly lines: readonly FollowedLine[]; readonly foreign: number }
  /** More files were rotated away than are kept: after that event, some may be missing before the next. */
  | { readonly is: 'gap'; readonly after: string | null }
  /** Nothing, for now. */
  | { readonly is: 'end' };

export interface EventFollower extends Disposable {
  /**
   * The next whole lines that were not handed over yet, some hundred kilobytes at a time.
   * @throws what the file system says, and Fault `unreadable`
   */
  next(): FollowResult;
}

export type FollowerOpening =
  | { readonly is: 'open'; readonly follower: EventFollower; readonly isEmpty: boolean }
  /** The event to begin after is not kept. */
  | { readonly is: 'unknown'; readonly oldest: string | null };

const BATCH = 256 * 1024;
/** So many files that were read stay open, to know them again whatever their names are. */
const ANCHORS = 8;
/** Enough of a line's end to hold its event id. */
const SAMPLE = 1024;

/**
 * Reads an event file and its archives as one sequence of events, each once and in order (docs/CONTRACT.md, 2). A file
 * that is renamed or deleted while it is read is read to its end by its descriptor. A file that became shorter, or has
 * other content, is read again from its beginning, and an event that was handed over is not handed over again.
 * @throws as `next` does
 */
export function openFollower(files: Files, path: string, from: FollowStartPoint): FollowerOpening {
  const handedOver = createRecentIds();
  const first = openEventFiles(files, path);
  let queue: readonly OpenEventFile[] = [];
  /** Read, the newest last. Open, so that no other file can have their numbers. */
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

  /** The next lines of the file that is read, and whether any were passed. */
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

  /** Looks for the files that come after those that were read. */
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
      // Looked at before the last read: what a writer put in before the file was renamed is read now.
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

/** False when the file was cut, or cut and written anew: what stands before the offset is not what was read. */
function isUnchanged(
  files: Files,
  fd: number,
  { offset, sample }: { readonly offset: number; readonly sample: Uint8Array },
): boolean {
  if (files.fstat(fd).size < offset) return false;
  return Buffer.compare(readSample(files, fd, offset), sample) === 0;
}
