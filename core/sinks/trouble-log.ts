import type { Log } from '../ports/index.ts';

/** Says a lasting trouble once, when it begins or changes, and once that it is over (Kijito contract j, traps 9 and 45). */
export interface TroubleLog {
  /** `cause` is what makes it the same trouble as before, where the line differs each time. */
  raise(line: string, cause?: string): void;
  /** Says `line` if there was trouble. */
  clear(line: string): void;
}

export function createTroubleLog(log: Log): TroubleLog {
  let lastCause: string | null = null;
  return {
    raise(line, cause = line) {
      if (cause !== lastCause) log.warn(line);
      lastCause = cause;
    },
    clear(line) {
      if (lastCause !== null) log.info(line);
      lastCause = null;
    },
  };
}
