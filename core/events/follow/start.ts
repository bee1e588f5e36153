import type { Files } from '../../ports/index.ts';
import { eventOf } from '../line.ts';
import { type EventFile, type FileId, sameFile } from './event-files.ts';
import { wholeLines } from './whole-lines.ts';

/** Where a whole line ends. */
export interface Place extends FileId {
  readonly offset: number;
}

/** Where to begin. */
export type From =
  /** With everything that is kept. */
  | { readonly is: 'oldest' }
  /** With the last so many events. */
  | { readonly is: 'last'; readonly events: number }
  /** After that one; `place` is where it was, if that is known. */
  | { readonly is: 'after'; readonly eventId: string; readonly place: Place | null };

/** The beginning of a line in a sequence of open files. */
export interface Spot {
  readonly index: number;
  readonly offset: number;
}

const OLDEST: Spot = { index: 0, offset: 0 };
/** So much before the beginning is looked at for what may come a second time behind it. */
const BEFORE_BYTES = 4 * 1024 * 1024;

/** Where to begin, and the ids of events that stand shortly before; null when the event to begin after is not there. */
export function startIn(
  files: Files,
  listed: readonly EventFile[],
  from: From,
): { readonly spot: Spot; readonly before: readonly string[] } | null {
  const spot = spotOf(files, listed, from);
  if (spot === null) return null;
  const begin = back(files, listed, spot, BEFORE_BYTES);
  return { spot, before: [...idsBetween(files, listed, begin, spot)].map(({ id }) => id) };
}

/** The oldest event that is kept, null when there is none. */
export function oldestIn(files: Files, listed: readonly EventFile[]): string | null {
  for (const { id } of idsBetween(files, listed, OLDEST, endOf(files, listed))) return id;
  return null;
}

function spotOf(files: Files, listed: readonly EventFile[], from: From): Spot | null {
  switch (from.is) {
    case 'oldest':
      return OLDEST;
    case 'last':
      return lastEvents(files, listed, from.events);
    case 'after':
      return (
        (from.place === null ? null : atPlace(files, listed, from.eventId, from.place)) ??
        behind(files, listed, from.eventId)
      );
  }
}

/** The place itself, when the event still ends there. */
function atPlace(files: Files, listed: readonly EventFile[], eventId: string, place: Place): Spot | null {
  const index = listed.findIndex(({ id }) => sameFile(id, place));
  const spot: Spot = { index, offset: place.offset };
  if (index === -1) return null;
  let last: Found | null = null;
  for (const found of idsBetween(files, listed, back(files, listed, spot, BEFORE_BYTES), spot)) last = found;
  return last?.id === eventId && last.behind.index === index && last.behind.offset === place.offset ? spot : null;
}

/** Behind the first of that id: what was written twice is left out when it comes, but what lies between is not. */
function behind(files: Files, listed: readonly EventFile[], eventId: string): Spot | null {
  for (const found of idsBetween(files, listed, OLDEST, endOf(files, listed))) {
    if (found.id === eventId) return found.behind;
  }
  return null;
}

function lastEvents(files: Files, listed: readonly EventFile[], events: number): Spot {
  const end = endOf(files, listed);
  for (let bytes = BEFORE_BYTES; ; bytes *= 4) {
    const begin = back(files, listed, end, bytes);
    const found = [...idsBetween(files, listed, begin, end)];
    const isAll = begin.index === 0 && begin.offset === 0;
    if (found.length <= events && !isAll) continue;
    if (found.length <= events) return OLDEST;
    return found[found.length - events - 1]?.behind ?? OLDEST;
  }
}

interface Found {
  readonly id: string;
  readonly behind: Spot;
}

function* idsBetween(files: Files, listed: readonly EventFile[], from: Spot, to: Spot): Generator<Found, void> {
  for (let index = from.index; index <= to.index; index += 1) {
    const file = listed[index];
    if (file === undefined) return;
    const begin = index === from.index ? from.offset : 0;
    const end = index === to.index ? to.offset : Number.POSITIVE_INFINITY;
    for (const line of wholeLines(files, file.fd, begin, end)) {
      const id = eventOf(line.text)?.event_id;
      if (id !== undefined) yield { id, behind: { index, offset: line.end } };
    }
  }
}

/** The beginning of a line some `bytes` before a spot, or of the sequence. */
function back(files: Files, listed: readonly EventFile[], { index, offset }: Spot, bytes: number): Spot {
  let at = offset - bytes;
  let there = index;
  while (at < 0 && there > 0) {
    there -= 1;
    at += sizeOf(files, listed[there]);
  }
  const file = listed[there];
  if (at <= 0 || file === undefined) return { index: Math.max(0, there), offset: 0 };
  // The line that lies across is left out: what begins behind its end is the beginning of a line.
  for (const { end } of wholeLines(files, file.fd, at)) return { index: there, offset: end };
  return { index: there, offset: sizeOf(files, file) };
}

function endOf(files: Files, listed: readonly EventFile[]): Spot {
  const last = listed.at(-1);
  return { index: Math.max(0, listed.length - 1), offset: sizeOf(files, last) };
}

function sizeOf(files: Files, file: EventFile | undefined): number {
  return file === undefined ? 0 : files.fstat(file.fd).size;
}
