import type { Log } from '../ports/index.ts';

/** Logs a lasting problem once when it begins or changes, and once when it is over (Kijito contract j, traps 9 and 45). */
export interface TroubleLog {
  /** Logs `line` unless the last problem had the same `cause`. Pass `cause` when the line differs each time. */
  raise(line: string, cause?: string): void;
  /** Logs `line` if there was a problem. */
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
