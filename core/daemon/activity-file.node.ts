import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Clock, realFiles } from '../ports/index.ts';
import { readText } from '../state/index.ts';

/** What is written in several calls is told once. */
const GATHER_MS = 20;
const LONGEST_WORD = 64;
const MOST_BYTES = 4096;

export interface ActivityFileNeeds {
  readonly clock: Pick<Clock, 'after'>;
  /** When the file was last written, by the wall clock, and the word that stands in it; null: none does. */
  readonly heard: (at: number, word: string | null) => void;
  /** Once, with why it cannot be watched; then nothing is ever heard. */
  readonly failed: (why: string) => void;
}

/**
 * Hears of each write to a file, also one that is not there yet; its directory must be. While the file is there it is
 * watched by itself: beside it stand the files of all other personas, which would wake this process every time.
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
        // It came, went, or another one stands under its name.
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
    return null; // gone again: that it was written is all that is known
  }
}
