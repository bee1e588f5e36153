import { type FSWatcher, lstatSync, watch } from 'node:fs';
import type { Clock } from '../ports/index.ts';
import { every } from '../services/index.ts';

export interface DirectoriesOptions {
  readonly clock: Clock;
  /** Watches nothing and checks the directories every 10 s, as on a disk that sends no change notices. */
  readonly statOnly: boolean;
}

/**
 * Called with the name in the directory that may have changed, null for any. `event` is `change` when a file was modified,
 * `rename` when it was created, deleted or renamed. `path` is the directory, so that one listener can serve thousands of them.
 */
export type DirectoryListener = (name: string | null, event: string, path: string) => void;

/** Reports changes in directories. It never modifies them. */
export interface Directories extends Disposable {
  /**
   * Watches a directory from now on, whether it exists yet or not. Its current content is not reported as a change.
   * @param sweep what the timer checks: `always` also finds another directory under the same name; `deaf` checks the directory
   * only while it has no change notices
   */
  add(path: string, tell: DirectoryListener, sweep: 'always' | 'deaf'): DirectoryObserver;
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
  const group: DirectoryGroup = { entries: new Set(), swept: new Set(), isQuiet: statOnly };
  const stop = new AbortController();
  const sweeps = every({ name: 'sweep', ms: SWEEP_EVERY_MS, firstMs: SWEEP_EVERY_MS, round: sweep, clock });
  void sweeps.run(stop.signal);
  function sweep(): void {
    for (const entry of [...group.swept]) entry.renew(); // every poll checks the other directories
  }
  return {
    add: (path, tell, sweep) => new WatchedDirectory(group, path, tell, sweep === 'always'),
    [Symbol.dispose]() {
      group.isQuiet = true;
      stop.abort();
      for (const entry of [...group.entries]) entry[Symbol.dispose]();
    },
  };
}

interface DirectoryGroup {
  readonly entries: Set<WatchedDirectory>;
  /** What the timer checks. */
  readonly swept: Set<WatchedDirectory>;
  /** Nothing is watched any more, or never was. */
  isQuiet: boolean;
}

/** The directory under a name: all null when nothing is there, or when it cannot be read. */
interface DirectoryIdentity {
  readonly dev: number | null;
  readonly ino: number | null;
  readonly ctimeMs: number | null;
  /** Why it cannot be read. */
  readonly trouble: string | null;
}

const NO_DIRECTORY: DirectoryIdentity = { dev: null, ino: null, ctimeMs: null, trouble: null };

/** Which directory each system watcher belongs to, so that all of them share two listeners. */
const owners = new WeakMap<FSWatcher, WatchedDirectory>();

/** A class, and plain numbers in it, because a store may have thousands of directories. */
class WatchedDirectory implements DirectoryObserver {
  readonly #group: DirectoryGroup;
  readonly #path: string;
  readonly #tell: DirectoryListener;
  readonly #isAlwaysSwept: boolean;
  #watcher: FSWatcher | null = null;
  #identity = NO_DIRECTORY;

  constructor(group: DirectoryGroup, path: string, tell: DirectoryListener, isAlwaysSwept: boolean) {
    this.#group = group;
    this.#path = path;
    this.#tell = tell;
    this.#isAlwaysSwept = isAlwaysSwept;
    group.entries.add(this);
    this.#check();
  }

  renew(): void {
    if (this.#check()) this.#tell(null, 'rename', this.#path);
  }

  /** Returns whether the directory is another one than before, or changed while nobody watched it. */
  #check(): boolean {
    const before = this.#identity;
    const now = readIdentity(this.#path);
    this.#identity = now;
    const isSame = now.ino === before.ino && now.dev === before.dev;
    const hasChanged = now.ctimeMs !== before.ctimeMs || now.trouble !== before.trouble;
    if (!isSame) this.#close();
    const isDeaf = this.#watcher === null;
    const isWatched = this.#group.entries.has(this);
    if (isDeaf && now.ino !== null && !this.#group.isQuiet && isWatched) this.#open();
    this.#noteSweep();
    return !isSame || (isDeaf && hasChanged);
  }

  #open(): void {
    try {
      const watcher = watch(this.#path, { persistent: false });
      owners.set(watcher, this);
      watcher.on('change', hearChange);
      watcher.on('error', hearError);
      this.#watcher = watcher;
    } catch {
      this.#watcher = null; // No watches are left, or this disk has none: the timer checks the directory.
    }
  }

  /** The timer checks the directory from now on, or no more. */
  #noteSweep(): void {
    const { entries, swept } = this.#group;
    if (entries.has(this) && (this.#isAlwaysSwept || this.#watcher === null)) swept.add(this);
    else swept.delete(this);
  }

  #close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  heard(name: string | null, event: string): void {
    this.#tell(name, event, this.#path);
  }

  failed(watcher: FSWatcher): void {
    if (this.#watcher === watcher) this.#watcher = null; // the timer checks the directory, and watches it again
    this.#noteSweep();
  }

  [Symbol.dispose](): void {
    this.#group.entries.delete(this);
    this.#close();
    this.#noteSweep();
  }
}

function hearChange(this: FSWatcher, event: string, name: string | Buffer | null): void {
  owners.get(this)?.heard(name === null ? null : String(name), event);
}

function hearError(this: FSWatcher): void {
  this.close();
  owners.get(this)?.failed(this);
}

function readIdentity(path: string): DirectoryIdentity {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return NO_DIRECTORY;
    return { dev: stat.dev, ino: stat.ino, ctimeMs: stat.ctimeMs, trouble: null };
  } catch (error) {
    return { ...NO_DIRECTORY, trouble: String(error) };
  }
}
