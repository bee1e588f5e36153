import { unlink, writeFile } from 'node:fs';
import { type Clock, renameAsync } from '../ports/index.ts';

const EVERY_MS = 10_000;
const PRIVATE = 0o600;

export interface MetricsFileNeeds {
  readonly path: string;
  /** Returns the text to write now. */
  readonly text: () => string;
  readonly clock: Clock;
  /** Called once for a failure that lasts, and with null when the failure is over. */
  readonly trouble: (error: Error | null) => void;
}

/**
 * Writes the metrics at once, every 10 s, and once more on disposal (persona daemon, contract 6). It writes a second file and
 * renames it, so that a reader sees one complete text. The file is not synced, because it has no use after a power cut.
 */
export function startMetricsFile({ path, text, clock, trouble }: MetricsFileNeeds): AsyncDisposable {
  const temp = `${path}.tmp`;
  let timer: Disposable | null = null;
  let isFailing = false;
  let isOver = false;

  function written(): Promise<void> {
    return new Promise((resolve) => {
      const done = (error: Error | null): void => {
        if (error !== null) unlink(temp, () => {}); // if it exists
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
