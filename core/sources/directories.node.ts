import { type FSWatcher, lstatSync, watch } from 'node:fs';
import type { Clock } from '../ports/index.ts';
import { every } from '../services/index.ts';

export interface DirectoriesOptions {
  readonly clock: Clock;
  /** Watches nothing and checks the directories every 10 s, as on a disk that sends no change notices. */
  readonly statOnly: boolean;
}

/** Reports changes in directories. It never modifies them. */
export interface Directories extends Disposable {
  /**
   * Watches a directory from now on, whether it exists yet or not. Its current content is not reported as a change.
   * @param tell gets the name in the directory that may have changed, null for any. `event` is `change` when a file was modified,
   * `rename` when it was created, deleted or renamed
   * @param sweep what the timer checks: `always` also finds another directory under the same name; `deaf` checks the directory
   * only while it has no change notices
   */
  add(path: string, tell: (name: string | null, event: string) => void, sweep: 'always' | 'deaf'): DirectoryObserver;
}

/** One watched directory. Disposing it stops the watching. */
export interface DirectoryObserver extends Disposable {
  /** Checks which directory has the name now, watches that one, and calls `tell` when it is another one than before. */
  renew(): void;
}

/** How often a directory without change notices is checked (garden contract 7, brainclaw contract 9). */
const SWEEP_EVERY_MS = 10_000;

/** Watches directories. One that does not exist or cannot be watched is checked every 10 s. */
export function watchDirectories({ clock, statOnly }: DirectoriesOptions): Directories {
  const entries = new Set<WatchedDirectory>();
  let isOver = false;

  interface WatchedDirectory {
    readonly path: string;
    readonly tell: (name: string | null, event: string) => void;
    readonly sweep: 'always' | 'deaf';
    watcher: FSWatcher | null;
    ino: string;
    stamp: string;
  }

  function renew(entry: WatchedDirectory, isFirst = false): void {
    const { ino, stamp } = readInode(entry.path);
    const isSame = ino === entry.ino;
    const hasChanged = stamp !== entry.stamp;
    Object.assign(entry, { ino, stamp });
    if (!isSame) {
      entry.watcher?.close();
      entry.watcher = null;
    }
    const isDeaf = entry.watcher === null;
    if (isDeaf && ino !== '' && !statOnly && !isOver && entries.has(entry)) entry.watcher = openWatcher(entry);
    if (isFirst || (isSame && !(isDeaf && hasChanged))) return;
    entry.tell(null, 'rename');
  }

  function openWatcher(entry: WatchedDirectory): FSWatcher | null {
    try {
      const watcher = watch(entry.path, { persistent: false }, (event, name) => entry.tell(name, event));
      watcher.on('error', () => {
        watcher.close();
        if (entry.watcher === watcher) entry.watcher = null; // the timer checks the directory, and watches it again
      });
      return watcher;
    } catch {
      return null; // No watches are left, or this disk has none: the timer checks the directory.
    }
  }

  const stop = new AbortController();
  const sweeps = every({ name: 'sweep', ms: SWEEP_EVERY_MS, firstMs: SWEEP_EVERY_MS, round: sweep, clock });
  void sweeps.run(stop.signal);
  function sweep(): void {
    // Every poll checks the other directories.
    for (const entry of [...entries]) if (entry.sweep === 'always' || entry.watcher === null) renew(entry);
  }

  return {
    add(path, tell, sweep) {
      const entry: WatchedDirectory = { path, tell, sweep, watcher: null, ino: '', stamp: '' };
      if (!isOver) entries.add(entry);
      renew(entry, true);
      return {
        renew: () => renew(entry),
        [Symbol.dispose]() {
          entries.delete(entry);
          entry.watcher?.close();
          entry.watcher = null;
        },
      };
    },
    [Symbol.dispose]() {
      isOver = true;
      stop.abort();
      for (const { watcher } of entries) watcher?.close();
      entries.clear();
    },
  };
}

/** The identity of the directory under a name: '' when nothing is there, or when it cannot be read. */
function readInode(path: string): { readonly ino: string; readonly stamp: string } {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? { ino: '', stamp: '' } : { ino: `${stat.dev}:${stat.ino}`, stamp: `${stat.ctimeMs}` };
  } catch (error) {
    return { ino: '', stamp: String(error) };
  }
}
