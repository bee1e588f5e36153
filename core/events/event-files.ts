import { basename, dirname, join } from 'node:path';
import { Fault } from '../model/index.ts';
import { type Files, O } from '../ports/index.ts';
import { parseEventLine } from './line.ts';
import { readRange } from './tail.ts';

/** Identifies a file whatever its name is. Valid while the file is open: later the system may reuse its number. */
export interface FileId {
  readonly dev: number;
  readonly ino: number;
}

/** One open file of an event file and its archives. */
export interface OpenEventFile {
  readonly fd: number;
  readonly id: FileId;
  /** `live` is the file that grows; `archive` is one that does not. */
  readonly is: 'live' | 'archive';
}

const ATTEMPTS = 100;

export const isSameFile = (a: FileId, b: FileId): boolean => a.dev === b.dev && a.ino === b.ino;

/**
 * Opens an event file and its archives, oldest first: `.5` ... `.1`, then the live file, as far as they exist. The names are read
 * again once all files are open, so that a rotation in between neither leaves out a file nor opens one twice.
 * The caller closes the files.
 * @throws what the file system throws, and Fault `unreadable` when a name is not a regular file
 */
export function openEventFiles(files: Files, path: string): readonly OpenEventFile[] {
  for (let attempt = 1; ; attempt += 1) {
    const opened: OpenEventFile[] = [];
    let isStable = false;
    try {
      const named = findFileNames(files, path);
      for (const name of named) {
        const file = openIfPresent(files, name, name === path ? 'live' : 'archive');
        if (file !== null) opened.push(file);
      }
      isStable = areNamesUnchanged(files, path, named, opened);
      if (isStable) return opened;
      if (attempt === ATTEMPTS)
        throw createUnreadableFault(path, 'and its archives change names faster than they can be read');
    } finally {
      if (!isStable) for (const { fd } of opened) files.close(fd);
    }
  }
}

/** Which file has the name now; null for none. */
export function findFileId(files: Files, path: string): FileId | null {
  return files.lstat(path);
}

function findFileNames(files: Files, path: string): readonly string[] {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  let names: readonly string[];
  try {
    names = files.readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const archives = names
    .filter((name) => name.startsWith(prefix) && /^[1-9][0-9]*$/.test(name.slice(prefix.length)))
    .map((name) => ({ name, age: Number(name.slice(prefix.length)) }))
    .toSorted((a, b) => b.age - a.age)
    .map(({ name }) => join(directory, name));
  return names.includes(basename(path)) ? [...archives, path] : archives;
}

function openIfPresent(files: Files, path: string, is: OpenEventFile['is']): OpenEventFile | null {
  let fd: number;
  try {
    fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  const { kind, dev, ino } = files.fstat(fd);
  if (kind === 'file') return { fd, id: { dev, ino }, is };
  files.close(fd);
  throw createUnreadableFault(path, 'is not a regular file');
}

function areNamesUnchanged(
  files: Files,
  path: string,
  named: readonly string[],
  opened: readonly OpenEventFile[],
): boolean {
  const now = findFileNames(files, path);
  if (now.length !== named.length || opened.length !== named.length) return false;
  return now.every((name, index) => {
    const file = opened[index];
    const currentId = findFileId(files, name);
    return name === named[index] && file !== undefined && currentId !== null && isSameFile(file.id, currentId);
  });
}

function createUnreadableFault(path: string, problem: string): Fault {
  return new Fault('unreadable', `${path} ${problem}`, { is: 'machine', key: path });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

const NEWLINE = 0x0a;
const CHUNK = 64 * 1024;

interface WholeLine {
  /** The line without its newline. */
  readonly text: string;
  /** The offset behind its newline. */
  readonly end: number;
}

/**
 * Yields the whole lines of an open file from `from` on, which must be the beginning of a line, and up to `to` if given.
 * Bytes behind the last newline are no line yet: the writer may complete them, or cut them off and write others.
 */
export function* readWholeLines(
  files: Files,
  fd: number,
  from: number,
  to: number = Number.POSITIVE_INFINITY,
): Generator<WholeLine, void> {
  let parts: Uint8Array[] = [];
  for (let at = from; at < to; ) {
    const chunk = readRange(files, fd, at, Math.min(to, at + CHUNK));
    if (chunk.length === 0) return;
    let begun = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begun)) {
      parts.push(chunk.subarray(begun, end));
      yield { text: Buffer.concat(parts).toString('utf8'), end: at + end + 1 };
      parts = [];
      begun = end + 1;
    }
    parts.push(chunk.subarray(begun));
    at += chunk.length;
  }
}

/** The end of a whole line. */
export interface EventLinePosition extends FileId {
  readonly offset: number;
}

/** Where a follower begins. */
export type FollowStartPoint =
  /** With the oldest event that is kept. */
  | { readonly is: 'oldest' }
  /** With this many events before the end. */
  | { readonly is: 'last'; readonly events: number }
  /** After this event. `place` is its position, if known. */
  | { readonly is: 'after'; readonly eventId: string; readonly place: EventLinePosition | null };

/** The beginning of a line in a sequence of open files. */
interface Spot {
  readonly index: number;
  readonly offset: number;
}

const OLDEST: Spot = { index: 0, offset: 0 };
/** How many bytes before the start are searched for events that may occur again after it. */
const BEFORE_BYTES = 4 * 1024 * 1024;

/** Where to begin, and the ids of events shortly before; null when the event to begin after is not found. */
export function findStart(
  files: Files,
  listed: readonly OpenEventFile[],
  from: FollowStartPoint,
): { readonly spot: Spot; readonly before: readonly string[] } | null {
  const spot = findSpot(files, listed, from);
  if (spot === null) return null;
  const begin = findLineBefore(files, listed, spot, BEFORE_BYTES);
  return { spot, before: [...readIdsBetween(files, listed, begin, spot)].map(({ id }) => id) };
}

/** The oldest event that is kept; null when there is none. */
export function findOldestId(files: Files, listed: readonly OpenEventFile[]): string | null {
  for (const { id } of readIdsBetween(files, listed, OLDEST, findEnd(files, listed))) return id;
  return null;
}

function findSpot(files: Files, listed: readonly OpenEventFile[], from: FollowStartPoint): Spot | null {
  switch (from.is) {
    case 'oldest':
      return OLDEST;
    case 'last':
      return findLastEvents(files, listed, from.events);
    case 'after':
      return (
        (from.place === null ? null : findAtPlace(files, listed, from.eventId, from.place)) ??
        findBehind(files, listed, from.eventId)
      );
  }
}

/** The saved position itself, when the event still ends there. */
function findAtPlace(
  files: Files,
  listed: readonly OpenEventFile[],
  eventId: string,
  place: EventLinePosition,
): Spot | null {
  const index = listed.findIndex(({ id }) => isSameFile(id, place));
  const spot: Spot = { index, offset: place.offset };
  if (index === -1) return null;
  let last: LocatedEvent | null = null;
  for (const event of readIdsBetween(files, listed, findLineBefore(files, listed, spot, BEFORE_BYTES), spot))
    last = event;
  return last?.id === eventId && last.behind.index === index && last.behind.offset === place.offset ? spot : null;
}

/**
 * The spot behind the first event with this id. Later duplicates are skipped when they are read, but the events in between are
 * not.
 */
function findBehind(files: Files, listed: readonly OpenEventFile[], eventId: string): Spot | null {
  for (const event of readIdsBetween(files, listed, OLDEST, findEnd(files, listed))) {
    if (event.id === eventId) return event.behind;
  }
  return null;
}

function findLastEvents(files: Files, listed: readonly OpenEventFile[], events: number): Spot {
  const end = findEnd(files, listed);
  for (let bytes = BEFORE_BYTES; ; bytes *= 4) {
    const begin = findLineBefore(files, listed, end, bytes);
    const located = [...readIdsBetween(files, listed, begin, end)];
    const isAll = begin.index === 0 && begin.offset === 0;
    if (located.length <= events && !isAll) continue;
    if (located.length <= events) return OLDEST;
    return located[located.length - events - 1]?.behind ?? OLDEST;
  }
}

interface LocatedEvent {
  readonly id: string;
  readonly behind: Spot;
}

function* readIdsBetween(
  files: Files,
  listed: readonly OpenEventFile[],
  from: Spot,
  to: Spot,
): Generator<LocatedEvent, void> {
  for (let index = from.index; index <= to.index; index += 1) {
    const file = listed[index];
    if (file === undefined) return;
    const begin = index === from.index ? from.offset : 0;
    const end = index === to.index ? to.offset : Number.POSITIVE_INFINITY;
    for (const line of readWholeLines(files, file.fd, begin, end)) {
      const id = parseEventLine(line.text)?.event_id;
      if (id !== undefined) yield { id, behind: { index, offset: line.end } };
    }
  }
}

/** The beginning of a line about `bytes` before a spot, or of the sequence. */
function findLineBefore(files: Files, listed: readonly OpenEventFile[], { index, offset }: Spot, bytes: number): Spot {
  let at = offset - bytes;
  let fileIndex = index;
  while (at < 0 && fileIndex > 0) {
    fileIndex -= 1;
    at += readSize(files, listed[fileIndex]);
  }
  const file = listed[fileIndex];
  if (at <= 0 || file === undefined) return { index: Math.max(0, fileIndex), offset: 0 };
  // The line that crosses this offset is left out: the next line begins behind its end.
  for (const { end } of readWholeLines(files, file.fd, at)) return { index: fileIndex, offset: end };
  return { index: fileIndex, offset: readSize(files, file) };
}

function findEnd(files: Files, listed: readonly OpenEventFile[]): Spot {
  const last = listed.at(-1);
  return { index: Math.max(0, listed.length - 1), offset: readSize(files, last) };
}

function readSize(files: Files, file: OpenEventFile | undefined): number {
  return file === undefined ? 0 : files.fstat(file.fd).size;
}
