import type { Files } from '../../ports/index.ts';
import { parseEventLine } from '../line.ts';
import { type FileId, isSameFile, type OpenEventFile } from './event-files.ts';
import { readWholeLines } from './whole-lines.ts';

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
export interface Spot {
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
