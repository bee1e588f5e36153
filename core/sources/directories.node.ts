import { type FSWatcher, lstatSync, watch } from 'node:fs';
import type { Clock } from '../ports/index.ts';

export interface DirectoriesOptions {
  readonly clock: Clock;
  /** Nothing is watched, as on a disk that tells nothing: it is looked at every 10 s. */
  readonly statOnly: boolean;
}

/** Notices of what changes in directories. Nothing in them is touched. */
export interface Directories extends Disposable {
  /**
   * From now on, whether it is there yet or not. What stands there now is no change.
   * @param tell the name in it that may have changed, null for any; `change`: where it stands, else it came, went or was renamed
   * @param sweep what the timer looks at: `always`, whether another directory stands there now; `deaf`, only what no notice comes of
   */
  add(path: string, tell: (name: string | null, event: string) => void, sweep: 'always' | 'deaf'): DirectoryWatch;
}

/** One of them. Disposed, it is not watched any more. */
export interface DirectoryWatch extends Disposable {
  /** Looks at what stands under the name, watches that, and tells when it is something else than before. */
  renew(): void;
}

/** What no notice came for is looked at so often (garden contract 7, brainclaw contract 9). */
const SWEEP_EVERY_MS = 10_000;

/** A directory that is not there, or cannot be watched, is asked for every 10 s. */
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
        if (entry.watcher === watcher) entry.watcher = null; // the timer looks, and watches again
      });
      return watcher;
    } catch {
      return null; // no watches left, or none on this disk: the timer looks
    }
  }

  let timer = clock.after(SWEEP_EVERY_MS, sweep);
  function sweep(): void {
    for (const entry of [...entries]) if (entry.sweep === 'always' || entry.watcher === null) renew(entry); // of the others every poll looks
    timer = clock.after(SWEEP_EVERY_MS, sweep);
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
      timer[Symbol.dispose]();
      for (const { watcher } of entries) watcher?.close();
      entries.clear();
    },
  };
}

/** What stands under a name: '' for nothing, or nothing that can be looked at. */
function readInode(path: string): { readonly ino: string; readonly stamp: string } {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? { ino: '', stamp: '' } : { ino: `${stat.dev}:${stat.ino}`, stamp: `${stat.ctimeMs}` };
  } catch (error) {
    return { ino: '', stamp: String(error) };
  }
}
