import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../core/ports/index.ts';

/** What no notice came for is looked at so often (observer protocol 4). */
const CHECK_EVERY_MS = 10_000;

/** Notices of what is appended to a journal. Nothing in it is touched. */
export interface JournalChanges extends Disposable {
  /** Resolves when it may have changed since the last time, after 10 s at the latest, or when `signal` aborts. */
  next(signal: AbortSignal): Promise<void>;
  /** Whether the system tells of changes; else the time is all there is. */
  readonly isWatched: boolean;
}

/**
 * @param store `.brainclaw`, in which `events` may come and go
 * @param statOnly nothing is watched, as on a disk that tells nothing
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
      watcher.on('error', markChanged); // the next look watches again, or the time passes
      return watcher;
    } catch {
      return null; // no watches left, or none on this disk: the time passes
    }
  };
  /** The directory may have come, or be another one under the same name. */
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

/** '' when nothing is there, or nothing that can be looked at. */
function readInode(path: string): string {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.dev}:${stat.ino}`;
  } catch {
    return ''; // what looks at it next says why
  }
}
