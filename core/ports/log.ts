/** Where the program says what it does. One line a call; `about` are the values it names. */
export interface Log {
  info(line: string, about?: Record<string, unknown>): void;
  warn(line: string, about?: Record<string, unknown>): void;
  error(line: string, about?: Record<string, unknown>): void;
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
