import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** What no notice came for is looked at so often: network disks give none. */
const CHECK_EVERY_MS = 1000;

/**
 * Calls `look` when a file or one of its archives may have changed: at once where the system tells, and every second. Keeps
 * the process alive until it is disposed.
 */
export function watchFile(path: string, onChange: () => void): Disposable {
  const directory = dirname(path);
  const name = basename(path);
  let watched: { readonly watcher: FSWatcher; readonly ino: number } | null = null;

  const unwatch = (): void => {
    watched?.watcher.close();
    watched = null;
  };
  /** The directory may not be there yet, or be another one under the same name. */
  const renew = (): void => {
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    if (stat?.ino === watched?.ino) return;
    unwatch();
    if (stat === undefined) return;
    try {
      const watcher = watch(directory, (_, changed) => {
        if (changed === null || changed.startsWith(name)) onChange();
      });
      watcher.on('error', unwatch); // the timer looks all the same, and watches again
      watched = { watcher, ino: stat.ino };
    } catch {
      // No watches left, or none on this disk: the timer looks.
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
