import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type DirectoryWatch, watchDirectories } from '../directories.node.ts';
import type { GardenPlaces } from './read/index.ts';

/** Receives notices of what may have changed in a store. */
export interface GardenStoreListener {
  /** Records were added, removed or written. `inPlace`: a file was written in place, which its directory's stat does not show. */
  records(inPlace: boolean): void;
  box(gardenId: string): void;
}

export interface GardenChangesOptions {
  readonly places: GardenPlaces;
  readonly clock: Clock;
  readonly listener: GardenStoreListener;
  /** Watches nothing and checks every 10 s, as on a disk that sends no change notices. */
  readonly statOnly: boolean;
}

/** Reports changes of a store. It never modifies the store. */
export interface GardenChanges extends Disposable {
  /** Watches exactly these boxes from now on, whether they exist yet or not. */
  follow(gardenIds: Iterable<string>): void;
}

const BOX_FILE = /\.msg(\.delivered)?(\.read)?$|^inbox\.signal$/;

/**
 * Watches the parent directories, since a fresh cut renames the store's directories away. Also watches the directories of
 * records, boxes and receiver markers, and each box.
 */
export function watchStore({ places, clock, listener, statOnly }: GardenChangesOptions): GardenChanges {
  const { sessions, mailbox, receivers } = places;
  const directories = watchDirectories({ clock, statOnly });
  const boxes = new Map<string, DirectoryWatch>();
  const storeDirectories = new Map<string, DirectoryWatch>();

  for (const parent of new Set([sessions, mailbox, receivers].map((path) => dirname(path)))) {
    directories.add(
      parent,
      (name) => {
        for (const [path, directory] of storeDirectories)
          if (dirname(path) === parent && (name === null || name === basename(path))) directory.renew();
      },
      'always',
    );
  }
  const add = (path: string, tell: (name: string | null, event: string) => void): void => {
    storeDirectories.set(path, directories.add(path, tell, 'always'));
  };
  add(sessions, (name, event) => {
    if (name === null || name.endsWith('.meta.json')) listener.records(event === 'change');
  });
  add(mailbox, (name) => {
    for (const [gardenId, box] of boxes) {
      if (name !== null && name !== gardenId) continue;
      box.renew();
      listener.box(gardenId);
    }
  });
  add(receivers, (name) => {
    for (const gardenId of boxes.keys()) if (name === null || name === `${gardenId}.json`) listener.box(gardenId);
  });

  return {
    follow(gardenIds) {
      const followedIds = new Set(gardenIds);
      for (const [gardenId, box] of boxes) {
        if (followedIds.has(gardenId)) continue;
        box[Symbol.dispose]();
        boxes.delete(gardenId);
      }
      for (const gardenId of followedIds) {
        if (boxes.has(gardenId)) continue;
        const onChange = (name: string | null): void => {
          if (name === null || BOX_FILE.test(name)) listener.box(gardenId);
        };
        boxes.set(gardenId, directories.add(join(mailbox, gardenId), onChange, 'deaf'));
      }
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      boxes.clear();
    },
  };
}
