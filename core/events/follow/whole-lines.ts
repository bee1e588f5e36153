import type { Files } from '../../ports/index.ts';
import { readRange } from '../tail.ts';

const NEWLINE = 0x0a;
const CHUNK = 64 * 1024;

export interface WholeLine {
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
