import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** How often the file is checked without a change notice: network disks send none. */
const CHECK_EVERY_MS = 1000;

/**
 * Calls `onChange` when a file or one of its archives may have changed: at once when the system reports it, and every second.
 * Keeps the process alive until it is disposed.
 */
export function watchFile(path: string, onChange: () => void): Disposable {
  const directory = dirname(path);
  const name = basename(path);
  let watched: { readonly watcher: FSWatcher; readonly ino: number } | null = null;

  const unwatch = (): void => {
    watched?.watcher.close();
    watched = null;
  };
  /** The directory may not exist yet, or be another one under the same name. */
  const renew = (): void => {
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    if (stat?.ino === watched?.ino) return;
    unwatch();
    if (stat === undefined) return;
    try {
      const watcher = watch(directory, (_, changed) => {
        if (changed === null || changed.startsWith(name)) onChange();
      });
      watcher.on('error', unwatch); // the timer checks all the same, and watches again
      watched = { watcher, ino: stat.ino };
    } catch {
      // No watches are left, or this disk has none: the timer checks the file.
    }
  };

  renew();
  const timer = setInterval(() => {
    renew();
    onChange();
  }, CHECK_EVERY_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      unwatch();
    },
  };
}
