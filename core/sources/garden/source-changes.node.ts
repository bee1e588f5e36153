import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import type { Places } from './read/index.ts';

/** Who is told of what may have changed in a store. A name that is not known is null. */
export interface Heard {
  /** Records came, went or were written. `inPlace`: where they stand, which their directory does not tell. */
  records(inPlace: boolean): void;
  box(gardenId: string): void;
}

export interface ChangesOptions {
  readonly places: Places;
  readonly clock: Clock;
  readonly heard: Heard;
  /** Nothing is watched, as on a disk that tells nothing: it is looked at every 10 s. */
  readonly statOnly: boolean;
}

/** Notices of a store's changes. Nothing in it is touched. */
export interface Changes extends Disposable {
  /** These boxes from now on, whether they are there yet or not. */
  follow(gardenIds: Iterable<string>): void;
}

/** What no notice came for is looked at so often (garden contract 7). */
const LOOK_EVERY_MS = 10_000;
const MATTERS = /\.msg(\.delivered)?(\.read)?$|^inbox\.signal$/;

interface Watched {
  readonly path: string;
  tell(name: string | null, event: string): void;
  watcher: FSWatcher | null;
  ino: string;
  stamp: string;
}

/**
 * Watches the parents, since a fresh cut renames both directories away, then the directories of records, boxes and receiver
 * markers, and each box. A directory that is not there, or can not be watched, is asked for every 10 s.
 */
export function watchStore({ places, clock, heard, statOnly }: ChangesOptions): Changes {
  const { sessions, mailbox, receivers } = places;
  const boxes = new Map<string, Watched>();
  const ofStore: Watched[] = [];
  let isOver = false;

  const watched = (path: string, tell: Watched['tell']): Watched => ({ path, tell, watcher: null, ino: '', stamp: '' });

  const records = watched(sessions, (name, event) => {
    if (name === null || name.endsWith('.meta.json')) heard.records(event === 'change');
  });
  const all = watched(mailbox, (name) => {
    for (const [gardenId, box] of boxes) {
      if (name !== null && name !== gardenId) continue;
      renew(box);
      heard.box(gardenId);
    }
  });
  const markers = watched(receivers, (name) => {
    for (const gardenId of boxes.keys()) if (name === null || name === `${gardenId}.json`) heard.box(gardenId);
  });
  for (const parent of new Set([sessions, mailbox, receivers].map((path) => dirname(path)))) {
    ofStore.push(
      watched(parent, (name) => {
        for (const one of [records, all, markers]) {
          if (dirname(one.path) === parent && (name === null || name === basename(one.path))) renew(one);
        }
      }),
    );
  }
  ofStore.push(records, all, markers);

  /** Watches what is there now under the name, and tells when it is something else than before. */
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
    if (isDeaf && ino !== '' && !statOnly && !isOver) one.watcher = watcherOf(one);
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

  function boxOf(gardenId: string): Watched {
    const path = join(mailbox, gardenId);
    return watched(path, (name) => {
      if (name === null || MATTERS.test(name)) heard.box(gardenId);
    });
  }

  for (const one of ofStore) renew(one, true);
  let timer = clock.after(LOOK_EVERY_MS, sweep);
  function sweep(): void {
    for (const one of ofStore) renew(one);
    for (const one of boxes.values()) if (one.watcher === null) renew(one); // of the others every poll looks
    timer = clock.after(LOOK_EVERY_MS, sweep);
  }

  return {
    follow(gardenIds) {
      const wanted = new Set(gardenIds);
      for (const [gardenId, box] of boxes) {
        if (wanted.has(gardenId)) continue;
        box.watcher?.close();
        boxes.delete(gardenId);
      }
      for (const gardenId of wanted) {
        if (boxes.has(gardenId) || isOver) continue;
        const box = boxOf(gardenId);
        boxes.set(gardenId, box);
        renew(box, true);
      }
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
      for (const one of [...ofStore, ...boxes.values()]) one.watcher?.close();
      boxes.clear();
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
