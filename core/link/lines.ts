/** No request is longer: a peer that sends more speaks another protocol (persona daemon, contract 4). */
export const LONGEST_LINE = 16 * 1024;

const NEWLINE = 0x0a;

/** The result of one chunk: the lines that it completed, without their line ends, and whether the next line is too long. */
export interface CutLines {
  readonly lines: readonly string[];
  readonly isOver: boolean;
}

/**
 * Cuts a stream into lines of at most `longest` bytes, and keeps at most one unfinished line. It stops reading at a line that is
 * too long.
 */
export function createLineCutter(longest: number): (chunk: Uint8Array) => CutLines {
  let held: Uint8Array[] = [];
  let bytes = 0;
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      if (bytes + part.length > longest) return { lines, isOver: true };
      if (end === -1) {
        if (part.length > 0) held.push(part);
        bytes += part.length;
        return { lines, isOver: false };
      }
      lines.push(Buffer.concat([...held, part]).toString('utf8'));
      held = [];
      bytes = 0;
      from = end + 1;
    }
  };
}
