/** The log of the program. One line per call; `about` has the values that the line names. */
export interface Log {
  info(line: string, about?: Record<string, unknown>): void;
  warn(line: string, about?: Record<string, unknown>): void;
  error(line: string, about?: Record<string, unknown>): void;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
