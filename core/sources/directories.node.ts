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
  add(path: string, tell: (name: string | null, event: string) => void, sweep: 'always' | 'deaf'): Directory;
}

/** One of them. Disposed, it is not watched any more. */
export interface Directory extends Disposable {
  /** Looks at what stands under the name, watches that, and tells when it is something else than before. */
  renew(): void;
}

/** What no notice came for is looked at so often (garden contract 7, brainclaw contract 9). */
const LOOK_EVERY_MS = 10_000;

/** A directory that is not there, or can not be watched, is asked for every 10 s. */
export function watchDirectories({ clock, statOnly }: DirectoriesOptions): Directories {
  const all = new Set<Watched>();
  let isOver = false;

  interface Watched {
    readonly path: string;
    readonly tell: (name: string | null, event: string) => void;
    readonly sweep: 'always' | 'deaf';
    watcher: FSWatcher | null;
    ino: string;
    stamp: string;
  }

  function renew(one: Watched, isFirst = false): void {
    const { ino, stamp } = inodeAt(one.path);
    const isSame = ino === one.ino;
    const hasChanged = stamp !== one.stamp;
    Object.assign(one, { ino, stamp });
    if (!isSame) {
      one.watcher?.close();
      one.watcher = null;
    }
    const isDeaf = one.watcher === null;
    if (isDeaf && ino !== '' && !statOnly && !isOver && all.has(one)) one.watcher = watcherOf(one);
    if (isFirst || (isSame && !(isDeaf && hasChanged))) return;
    one.tell(null, 'rename');
  }

  function watcherOf(one: Watched): FSWatcher | null {
    try {
      const watcher = watch(one.path, { persistent: false }, (event, name) => one.tell(name, event));
      watcher.on('error', () => {
        watcher.close();
        if (one.watcher === watcher) one.watcher = null; // the timer looks, and watches again
      });
      return watcher;
    } catch {
      return null; // no watches left, or none on this disk: the timer looks
    }
  }

  let timer = clock.after(LOOK_EVERY_MS, sweep);
  function sweep(): void {
    for (const one of [...all]) if (one.sweep === 'always' || one.watcher === null) renew(one); // of the others every poll looks
    timer = clock.after(LOOK_EVERY_MS, sweep);
  }

  return {
    add(path, tell, sweep) {
      const one: Watched = { path, tell, sweep, watcher: null, ino: '', stamp: '' };
      if (!isOver) all.add(one);
      renew(one, true);
      return {
        renew: () => renew(one),
        [Symbol.dispose]() {
          all.delete(one);
          one.watcher?.close();
          one.watcher = null;
        },
      };
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
      for (const { watcher } of all) watcher?.close();
      all.clear();
    },
  };
}

/** What stands under a name: '' for nothing, or nothing that can be looked at. */
function inodeAt(path: string): { readonly ino: string; readonly stamp: string } {
  try {
    const there = lstatSync(path, { throwIfNoEntry: false });
    return there === undefined
      ? { ino: '', stamp: '' }
      : { ino: `${there.dev}:${there.ino}`, stamp: `${there.ctimeMs}` };
  } catch (error) {
    return { ino: '', stamp: String(error) };
  }
}
