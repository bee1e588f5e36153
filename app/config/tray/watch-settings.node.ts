import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../../core/ports/index.ts';

interface WatchNeeds {
  readonly clock: Pick<Clock, 'after'>;
  readonly heard: () => void;
  readonly failed: (why: string) => void;
}

/** An editor writes a file in several steps. */
const GATHER_MS = 100;

/**
 * Calls `heard` soon after the settings file changed. Its folder is watched, because editors replace a file, and so is that of the file
 * that it is a link to.
 */
export function watchSettings(path: string, { clock, heard, failed }: WatchNeeds): Disposable {
  let soon: Disposable | null = null;
  const watchers = [...new Set([path, resolveLink(path)])].map((file) => open(file));

  function open(file: string): FSWatcher | null {
    try {
      const opened = watch(dirname(file), { persistent: false }, (_, name) => {
        if (name !== null && name !== basename(file)) return;
        soon ??= clock.after(GATHER_MS, () => {
          soon = null;
          heard();
        });
      });
      return opened.on('error', (error) => failed(error.message));
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  return {
    [Symbol.dispose]() {
      for (const watcher of watchers) watcher?.close();
      soon?.[Symbol.dispose]();
    },
  };
}

function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it does not exist yet
  }
}
