import { createInterface } from 'node:readline';

/** Yields the lines of stdin, until it ends or `stop` is aborted. */
export async function* readStdinLines(stop: AbortSignal): AsyncGenerator<string, void> {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const close = (): void => lines.close();
  stop.addEventListener('abort', close, { once: true });
  if (stop.aborted) lines.close();
  try {
    yield* lines;
  } finally {
    stop.removeEventListener('abort', close);
    lines.close();
    process.stdin.destroy();
  }
}
