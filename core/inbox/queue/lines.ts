import { type Instant, parseJson } from '../../model/index.ts';
import { parseEntry, type QueueEntry } from './entry.ts';

/** One thing that was found in a queue. */
export type QueuePiece =
  /** `place` is where it stands in the bytes, and so the same however often they are read. */
  | { readonly is: 'entry'; readonly entry: QueueEntry; readonly place: string; readonly line: string }
  | { readonly is: 'bad'; readonly why: string; readonly line: string };

const LF = 0x0a;
/** What a drainer writes into a queue before it empties it. No JSON, so every reader skips it. */
const MARKER = /^# taking over [0-9a-f]{32}$/;
/** Places in a bad line at which another line may begin. */
const MOST_STARTS = 64;

export function formatMarker(nonce: string): string {
  return `# taking over ${nonce}\n`;
}

/**
 * The lines of a queue. Blank lines and marks are nothing. A writer that died in the middle of its line leaves half a line without
 * an end, and the next writer's line stands right behind it: that one is found, the half is bad. So is half a line at
 * the end; a line that lacks nothing but its LF is a line.
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

/** Whether the last line is one that its writer may not be done with. */
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
    return false; // that is the answer
  }
}

/** Bytes that are no UTF-8 become U+FFFD, as they do in Go: a wrong letter is no reason to lose a message. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
