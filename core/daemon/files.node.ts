import { type FSWatcher, statSync, unlink, watch, writeFile } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Clock, realFiles, renameAsync } from '../ports/index.ts';
import { every } from '../services/index.ts';
import { readText } from '../state/index.ts';

/** Several writes within this time are reported once. */
const GATHER_MS = 20;
const LONGEST_WORD = 64;
const MOST_BYTES = 4096;

interface ActivityFileNeeds {
  readonly clock: Pick<Clock, 'after'>;
  /** Called with the time of the last write, by the wall clock, and the word in the file; null: the file holds no word. */
  readonly heard: (at: number, word: string | null) => void;
  /** Called once with the reason if the file cannot be watched. After that `heard` is never called. */
  readonly failed: (why: string) => void;
}

/**
 * Reports each write to a file, which need not exist yet; its directory must exist. An existing file is watched directly, because
 * the directory also holds the files of all other personas, and each of their writes would wake this process.
 */
export function watchActivityFile(path: string, { clock, heard, failed }: ActivityFileNeeds): Disposable {
  const name = basename(path);
  let watcher: FSWatcher | null = null;
  let soon: Disposable | null = null;
  let isOver = false;

  const writtenAt = (): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;

  function touched(): void {
    soon ??= clock.after(GATHER_MS, () => {
      soon = null;
      const at = writtenAt();
      if (at !== null) heard(at, readWord(path));
    });
  }

  function attend(): void {
    if (isOver) return;
    watcher?.close();
    const isThere = writtenAt() !== null;
    try {
      watcher = watch(isThere ? path : dirname(path), { persistent: false }, (event, changed) => {
        if (!isThere && changed !== null && changed !== name) return;
        touched();
        // The file was created, removed or replaced.
        if (!isThere || event === 'rename') attend();
      });
      watcher.on('error', (error) => failed(error.message));
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
    }
  }

  attend();
  return {
    [Symbol.dispose]() {
      isOver = true;
      watcher?.close();
      soon?.[Symbol.dispose]();
    },
  };
}

function readWord(path: string): string | null {
  try {
    const word = readText(realFiles, path, MOST_BYTES)?.trim() ?? '';
    return word === '' || word.length > LONGEST_WORD ? null : word;
  } catch {
    return null; // the file is gone again: only the time of the write is known
  }
}

const EVERY_MS = 10_000;
const PRIVATE = 0o600;

interface MetricsFileNeeds {
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
  let isFailing = false;

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

  const stop = new AbortController();
  const ended = every({ name: 'metrics', ms: EVERY_MS, round: written, clock }).run(stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      await written();
    },
  };
}
