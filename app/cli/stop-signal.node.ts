/** Aborted when the process is asked to stop, which it then does not do by itself. */
export function createStopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
