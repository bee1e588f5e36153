import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/ports/index.ts';
import { getErrno } from '../../core/state/index.ts';

/**
 * A file in `<run>`. A hook that changed the local hive writes it, so that the tray process reads the hive again. Its content has
 * no meaning.
 */
const FILE = 'changed';
/** Changes of several hooks within this time are handled together. */
const GATHER_MS = 20;

/** Notes a change. Never throws: without a tray process nobody needs the note, and a running one polls anyway after a while. */
export function noteChanged(run: string): void {
  try {
    fs.writeFileSync(join(run, FILE), '.', { mode: 0o600 });
  } catch {
    // The change itself is stored all the same.
  }
}

/**
 * Calls `heard` soon after a hook noted a change. Where the file cannot be watched, it calls `failed` once with the reason, and
 * never `heard`.
 */
export function watchChanged(
  run: string,
  { clock, heard, failed }: { clock: Pick<Clock, 'after'>; heard: () => void; failed: (why: string) => void },
): Disposable {
  let soon: Disposable | null = null;
  const watcher = open();

  function open(): fs.FSWatcher | null {
    try {
      const opened = fs.watch(run, { persistent: false }, (_, name) => {
        if (name !== null && name !== FILE) return;
        soon ??= clock.after(GATHER_MS, () => {
          soon = null;
          heard();
        });
      });
      return opened.on('error', (error) => failed(error.message));
    } catch (error) {
      failed(getErrno(error) ?? String(error));
      return null;
    }
  }

  return {
    [Symbol.dispose]() {
      watcher?.close();
      soon?.[Symbol.dispose]();
    },
  };
}
