import { isUtf8 } from 'node:buffer';
import type { ReadFiles } from './read-files.ts';

/** The longest line that is read; a longer one is skipped. A handoff of the real store has 225 KB. */
export const MOST_LINE = 16 * 1024 * 1024;
const CHUNK = 1024 * 1024;
const NEWLINE = 0x0a;

/** How far a file was read. */
export interface ReadPosition {
  /** Up to this byte, everything was in lines that were passed on. */
  offset: number;
  /** The current line is too long and is skipped up to its newline. */
  passing: boolean;
}

export interface JournalLine {
  readonly is: 'line' | 'not-utf8' | 'too-long';
  /** Empty unless `is` is `line`. */
  readonly text: string;
  /** The offset of its first byte in the file. */
  readonly start: number;
  /** The offset after its newline. For a line that is too long, the offset at which it was given up. */
  readonly end: number;
}

/**
 * Passes on the lines from a position on, one after the other; empty ones are left out. A line counts only with its newline:
 * bytes after the last one are not passed on, and the position stays before them (brainclaw contract 2, trap 4). The position is
 * correct at any time, also when `onLine` or the disk throws.
 * @returns the number of bytes after the last newline
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

/** @returns how many of the bytes were handled, by which the position has moved */
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
