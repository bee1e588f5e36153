import { LINE_LIMITS } from './lines.ts';

/** Cuts the bytes of a pipe into lines. It never keeps more than one line of the limit. */
export interface LineSplitter {
  /** Returns the lines that end in these bytes, without their ends. Null: a line is too long, and nothing more is read. */
  push(bytes: Buffer): readonly string[] | null;
  /** The last line, when it has no end; null when there is none. */
  flush(): string | null;
}

const LF = 0x0a;

export function createLineSplitter(most: number = LINE_LIMITS.lineBytes): LineSplitter {
  let parts: Buffer[] = [];
  let length = 0;
  let isBroken = false;

  function take(end: Buffer): string {
    const line = parts.length === 0 ? end : Buffer.concat([...parts, end]);
    parts = [];
    length = 0;
    const text = line.toString('utf8');
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }

  return {
    push(bytes) {
      if (isBroken) return null;
      const lines: string[] = [];
      let from = 0;
      for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, from)) {
        isBroken = length + end - from > most;
        if (isBroken) break;
        const line = take(bytes.subarray(from, end));
        if (line.trim() !== '') lines.push(line);
        from = end + 1;
      }
      const rest = bytes.subarray(from);
      isBroken ||= length + rest.length > most;
      if (isBroken) {
        parts = [];
        return null;
      }
      if (rest.length > 0) {
        parts.push(Buffer.from(rest)); // a copy: the chunk of the pipe is larger than the rest of it
        length += rest.length;
      }
      return lines;
    },
    flush() {
      const line = take(Buffer.alloc(0));
      return isBroken || line.trim() === '' ? null : line;
    },
  };
}
