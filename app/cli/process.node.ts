/** Returns a signal that aborts when the process is asked to stop. The process then no longer stops on its own. */
export function createStopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Returns the operating system that this process runs on. */
export function getHostOs(): NodeJS.Platform {
  return process.platform;
}

/** Whether stdout is a terminal, on which a live table can be redrawn in place. */
export const isTerminal = (): boolean => process.stdout.isTTY === true;

/** Returns the rows and columns of the terminal now; null when it does not tell. */
export function getTerminalSize(): { readonly rows: number; readonly columns: number } | null {
  const { rows, columns } = process.stdout;
  return rows > 0 && columns > 0 ? { rows, columns } : null;
}
