import { unlink, writeFile } from 'node:fs';
import { type Clock, renameAsync } from '../ports/index.ts';

const EVERY_MS = 10_000;
const PRIVATE = 0o600;

export interface MetricsFileNeeds {
  readonly path: string;
  /** What it is to hold now. */
  readonly text: () => string;
  readonly clock: Clock;
  /** Told once for a failure that lasts, and with null when it is over. */
  readonly trouble: (error: Error | null) => void;
}

/**
 * Writes the metrics at once, every 10 s and once more when it is disposed (persona daemon, contract 6): a file beside it, then a
 * rename, so that a reader has one text or the other. It is not synced: after a power cut it is of no use.
 */
export function startMetricsFile({ path, text, clock, trouble }: MetricsFileNeeds): AsyncDisposable {
  const temp = `${path}.tmp`;
  let timer: Disposable | null = null;
  let isFailing = false;
  let isOver = false;

  function written(): Promise<void> {
    return new Promise((resolve) => {
      const done = (error: Error | null): void => {
        if (error !== null) unlink(temp, () => {}); // if it is there
        if (isFailing !== (error !== null)) trouble(error);
        isFailing = error !== null;
        resolve();
      };
      writeFile(temp, text(), { mode: PRIVATE }, (error) => {
        if (error !== null) done(error);
        else renameAsync(temp, path).then(() => done(null), done);
      });
    });
  }

  async function beat(): Promise<void> {
    await written();
    if (!isOver) timer = clock.after(EVERY_MS, next);
  }

  let last = beat();
  function next(): void {
    last = beat();
  }

  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      timer?.[Symbol.dispose]();
      await last;
      await written();
    },
  };
}
