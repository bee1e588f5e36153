import { type Files, O, writeAll } from '../ports/index.ts';
import type { Event } from './event.ts';
import { findClosing, parseEventLine } from './line.ts';

const NEWLINE = 0x0a;
const CHUNK = 64 * 1024;

/**
 * The events at the end of an event file, oldest first: every whole line in its last `maxBytes`, and at least the last line,
 * however long it is.
 * Lines that are no events are left out, and so is a last line without a newline, since nobody acknowledged it. A missing file
 * has no events.
 *
 * @throws what `files.open` throws for a path that cannot be read, a symlink included.
 */
export function readTail(files: Files, path: string, maxBytes: number): readonly Event[] {
  let fd: number;
  try {
    fd = files.open(path, O.RDONLY | O.NOFOLLOW | O.NONBLOCK, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  try {
    return readTailOfFile(files, fd, maxBytes, path);
  } finally {
    files.close(fd);
  }
}

function readTailOfFile(files: Files, fd: number, maxBytes: number, path: string): readonly Event[] {
  const { kind, size } = files.fstat(fd);
  if (kind !== 'file') throw new Error(`${path} is not a regular file`);
  const end = findEndOfLines(files, fd, size);
  if (end === 0) return [];
  // The search begins one byte before the window, so that a line that begins exactly with the window counts as whole.
  const inside = findStartOfLine(files, fd, Math.max(0, end - maxBytes), end);
  const start = inside < end ? inside : findEndOfLines(files, fd, end - 1);
  const text = Buffer.from(readRange(files, fd, start, end)).toString('utf8');
  return text.split('\n').flatMap((line) => parseEventLine(line) ?? []);
}

/** A longer fragment is no line of ours. */
const LONGEST_TORN = 16 * 1024 * 1024;

/**
 * Repairs what a crash, a full disk or a power cut left behind the last whole line. Whole lines are never changed. Afterwards the
 * file is empty or ends with a newline, so that the next line is separate (field report S11).
 * `fd` must be open for reading and appending. Returns by how many bytes the file grew; a negative number is how many were cut.
 *
 * The beginning of a line is completed (`findClosing`), because a follower has read it by then. If it were cut, `tail -F` would
 * read the file from the start, or append the next line to the fragment and lose both.
 * What cannot be completed (a run of NUL bytes, somebody else's text) is cut: with a newline behind it, every strict reader would
 * fail on it.
 */
export function repairTail(files: Files, fd: number): number {
  const { size } = files.fstat(fd);
  const end = findEndOfLines(files, fd, size);
  if (end === size) return 0;
  const closing = size - end > LONGEST_TORN ? null : findClosing(readRange(files, fd, end, size));
  if (closing === null) {
    files.ftruncate(fd, end);
    return end - size;
  }
  writeAll(files, fd, closing);
  return closing.length;
}

/** The offset behind the last newline in the first `size` bytes; 0 when there is none. */
function findEndOfLines(files: Files, fd: number, size: number): number {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK);
    const at = readRange(files, fd, start, end).lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}

/** The offset of the first line that begins at or after `from`; `end` when none does. */
function findStartOfLine(files: Files, fd: number, from: number, end: number): number {
  if (from === 0) return 0;
  for (let start = from - 1; start < end; start += CHUNK) {
    const at = readRange(files, fd, start, Math.min(end, start + CHUNK)).indexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
  }
  return end;
}

/** The bytes from `start` up to `end`, or fewer when the file ends before. */
export function readRange(files: Files, fd: number, start: number, end: number): Uint8Array {
  const bytes = new Uint8Array(end - start);
  let done = 0;
  while (done < bytes.length) {
    const got = files.read(fd, bytes.subarray(done), start + done);
    if (got === 0) break; // the file was truncated during the read
    done += got;
  }
  return bytes.subarray(0, done);
}
