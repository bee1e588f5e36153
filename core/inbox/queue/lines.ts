import { type Instant, parseJson } from '../../model/index.ts';
import { parseEntry, type QueueEntry } from './entry.ts';

/** One part that was found in a queue. */
export type QueuePiece =
  /** `place` is the position in the bytes, so it is the same at every read. */
  | { readonly is: 'entry'; readonly entry: QueueEntry; readonly place: string; readonly line: string }
  | { readonly is: 'bad'; readonly why: string; readonly line: string };

const LF = 0x0a;
/** The line that a drainer writes into a queue before it empties the queue. It is not JSON, so every reader skips it. */
const MARKER = /^# taking over [0-9a-f]{32}$/;
/** How many places in a bad line are tried as the start of another line. */
const MOST_STARTS = 64;

export function formatMarker(nonce: string): string {
  return `# taking over ${nonce}\n`;
}

/**
 * Splits a queue into its lines. Blank lines and markers are skipped. A writer that died may leave half a line without an end,
 * directly followed by the next writer's line: the second line is found, and the half is bad. Half a line at the end is bad too,
 * but a line that lacks only its LF is valid.
 */
export function parsePieces(bytes: Uint8Array, now: Instant): readonly QueuePiece[] {
  const pieces: QueuePiece[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LF, from);
    const to = end === -1 ? bytes.length : end;
    pieces.push(...parseLinePieces(decodeText(bytes.subarray(from, to)), from, now));
    from = to + 1;
  }
  return pieces;
}

export function endsLine(bytes: Uint8Array): boolean {
  return bytes.at(-1) === LF;
}

/** Whether the writer of the last line may not have finished it. */
export function endsTorn(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || endsLine(bytes)) return false;
  return !isObject(decodeText(bytes.subarray(bytes.lastIndexOf(LF) + 1)));
}

function parseLinePieces(line: string, offset: number, now: Instant): readonly QueuePiece[] {
  if (line.trim() === '' || MARKER.test(line.trim())) return [];
  const read = parseEntry(line, now);
  if (read.is === 'entry') return [{ is: 'entry', entry: read.entry, place: `${offset}`, line }];
  if (isObject(line)) return [{ is: 'bad', why: read.why, line }];
  for (let tries = 0, at = line.indexOf('{"', 1); at !== -1 && tries < MOST_STARTS; tries += 1) {
    const rest = line.slice(at);
    const second = parseEntry(rest, now);
    if (second.is === 'entry') {
      const entryPiece: QueuePiece = { is: 'entry', entry: second.entry, place: `${offset}+${at}`, line: rest };
      return [{ is: 'bad', why: read.why, line: line.slice(0, at) }, entryPiece];
    }
    at = line.indexOf('{"', at + 1);
  }
  return [{ is: 'bad', why: read.why, line }];
}

function isObject(line: string): boolean {
  try {
    const value: unknown = parseJson(line);
    return value !== null && typeof value === 'object';
  } catch {
    return false; // not JSON, so not an object
  }
}

/** Bytes that are not UTF-8 become U+FFFD, as in Go: a wrong letter is no reason to lose a message. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
