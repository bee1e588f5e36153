import { isUtf8 } from 'node:buffer';
import type { ReadFiles } from './read-files.ts';

/** Longest line that is read; a longer one is passed over. A handoff of the real store has 225 KB. */
export const MOST_LINE = 16 * 1024 * 1024;
const CHUNK = 1024 * 1024;
const NEWLINE = 0x0a;

/** Where the reading of a file stands. */
export interface ReadPosition {
  /** Bytes that are done with: up to here everything is in lines that were told. */
  offset: number;
  /** The line here is too long, and is passed over up to its newline. */
  passing: boolean;
}

export interface JournalLine {
  readonly is: 'line' | 'not-utf8' | 'too-long';
  /** '' but for a line. */
  readonly text: string;
  /** Its first byte in the file. */
  readonly start: number;
  /** The byte after its newline; of one that is too long, where it was given up. */
  readonly end: number;
}

/**
 * The lines from a place on, told one after the other; empty ones are left out. A line is there with its newline only:
 * what comes after the last one is not told, and the place stays before it (brainclaw contract 2, trap 4). The place is
 * right at any time, also when `told` or the disk throws.
 * @returns the bytes after the last newline
 */
export function readLines(
  files: ReadFiles,
  fd: number,
  place: ReadPosition,
  onLine: (line: JournalLine) => void,
): number {
  let buffer = Buffer.allocUnsafe(CHUNK);
  let filled = 0;
  for (;;) {
    if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    const got = files.read(fd, buffer.subarray(filled), place.offset + filled);
    if (got === 0) return place.passing ? 0 : filled;
    const from = filled;
    filled += got;
    const done = emitWholeLines(buffer.subarray(0, filled), from, place, onLine);
    buffer.copyWithin(0, done, filled);
    filled -= done;
  }
}

/** @returns how many of the bytes are done with, by which the place has moved */
function emitWholeLines(bytes: Buffer, from: number, place: ReadPosition, onLine: (line: JournalLine) => void): number {
  const base = place.offset;
  let start = 0;
  let end = bytes.indexOf(NEWLINE, from);
  if (end >= 0) {
    const sound = isUtf8(bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1));
    for (; end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const next = end + 1;
      place.offset = base + next;
      if (place.passing) place.passing = false;
      else if (end - start > MOST_LINE) onLine(createLine('too-long', '', base + start, base + next));
      else if (end > start) {
        const isText = sound || isUtf8(bytes.subarray(start, end));
        const text = isText ? bytes.toString('utf8', start, end) : '';
        onLine(createLine(isText ? 'line' : 'not-utf8', text, base + start, base + next));
      }
      start = next;
    }
  }
  if (place.passing || bytes.length - start > MOST_LINE) {
    const isNew = !place.passing;
    place.passing = true;
    place.offset = base + bytes.length;
    if (isNew) onLine(createLine('too-long', '', base + start, place.offset));
    return bytes.length;
  }
  return start;
}

const createLine = (is: JournalLine['is'], text: string, start: number, end: number): JournalLine => ({
  is,
  text,
  start,
  end,
});
