import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../ports/index.ts';

/** How often the journal is checked without a notice from the system (observer protocol 4). */
const CHECK_EVERY_MS = 10_000;

/** Waits for records that are appended to a journal. It changes nothing there. */
export interface JournalChanges extends Disposable {
  /** Resolves when the journal may have changed since the last call, after at most 10 s, or when `signal` aborts. */
  next(signal: AbortSignal): Promise<void>;
  /** Whether the system reports changes; otherwise only the 10 s timer does. */
  readonly isWatched: boolean;
}

/**
 * @param store the folder `.brainclaw`, in which `events` may come and go
 * @param statOnly watch nothing, as on a disk that reports no changes
 */
export function openJournalChanges(store: string, clock: Clock, statOnly: boolean): JournalChanges {
  const events = join(store, 'events');
  let changed = false;
  let wake = (): void => {};
  let watched: { readonly watcher: FSWatcher; readonly inode: string } | null = null;

  const markChanged = (): void => {
    changed = true;
    wake();
  };
  const unwatch = (): void => {
    watched?.watcher.close();
    watched = null;
  };
  const openWatcher = (directory: string, matters: (name: string) => boolean): FSWatcher | null => {
    if (statOnly) return null;
    try {
      const watcher = watch(directory, (_, name) => {
        if (name === null || matters(name)) markChanged();
      });
      watcher.on('error', markChanged); // the next call watches again, or the timer expires
      return watcher;
    } catch {
      return null; // no watches are left, or this disk has none; the timer remains
    }
  };
  /** Watches the directory again when it has appeared or was replaced under the same name. */
  const renew = (): void => {
    const inode = readInode(events);
    if (inode === watched?.inode) return;
    unwatch();
    const watcher = inode === '' ? null : openWatcher(events, (name) => name.startsWith('seg-'));
    if (watcher !== null) watched = { watcher, inode };
  };

  const parent = openWatcher(store, (name) => name === 'events');
  renew();
  return {
    async next(signal) {
      renew();
      const nap = new AbortController();
      wake = () => nap.abort();
      if (!changed) await clock.sleep(CHECK_EVERY_MS, AbortSignal.any([signal, nap.signal]));
      wake = () => {};
      changed = false;
    },
    get isWatched() {
      return watched !== null || (parent !== null && readInode(events) === '');
    },
    [Symbol.dispose]() {
      parent?.close();
      unwatch();
    },
  };
}

/** Returns '' when nothing exists there, or it cannot be read. */
function readInode(path: string): string {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.dev}:${stat.ino}`;
  } catch {
    return ''; // the code that reads the path next reports why
  }
}
