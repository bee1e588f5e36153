/** Longer than any request is: who sends more speaks something else (persona daemon, contract 4). */
export const LONGEST_LINE = 16 * 1024;

const NEWLINE = 0x0a;

/** What came with a chunk: the lines it ended, without their ends, and whether one grew too long behind them. */
export interface CutLines {
  readonly lines: readonly string[];
  readonly isOver: boolean;
}

/** Cuts a stream into lines of at most `longest` bytes; never keeps more than one. What follows one too long is not read. */
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
