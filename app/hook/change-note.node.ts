import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/ports/index.ts';
import { getErrno } from '../../core/state/index.ts';

/** In `<run>`: written by a hook that changed the local hive, so that the tray process looks. What stands in it says nothing. */
const FILE = 'changed';
/** What several hooks change in so short a time is one look. */
const GATHER_MS = 20;

/** Never throws: without a tray process nobody hears it, and one that runs looks by itself in a while. */
export function noteChanged(run: string): void {
  try {
    fs.writeFileSync(join(run, FILE), '.', { mode: 0o600 });
  } catch {
    // What was told is marked all the same.
  }
}

/** Calls `heard` soon after a hook noted a change. Where nothing can be watched, `failed` hears why, once, and it never comes. */
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
