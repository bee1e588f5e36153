import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../ports/index.ts';
import { type Directory, watchDirectories } from '../directories.node.ts';
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

const MATTERS = /\.msg(\.delivered)?(\.read)?$|^inbox\.signal$/;

/**
 * Watches the parents, since a fresh cut renames both directories away, then the directories of records, boxes and receiver
 * markers, and each box.
 */
export function watchStore({ places, clock, heard, statOnly }: ChangesOptions): Changes {
  const { sessions, mailbox, receivers } = places;
  const directories = watchDirectories({ clock, statOnly });
  const boxes = new Map<string, Directory>();
  const ofStore = new Map<string, Directory>();

  for (const parent of new Set([sessions, mailbox, receivers].map((path) => dirname(path)))) {
    directories.add(
      parent,
      (name) => {
        for (const [path, directory] of ofStore)
          if (dirname(path) === parent && (name === null || name === basename(path))) directory.renew();
      },
      'always',
    );
  }
  const add = (path: string, tell: (name: string | null, event: string) => void): void => {
    ofStore.set(path, directories.add(path, tell, 'always'));
  };
  add(sessions, (name, event) => {
    if (name === null || name.endsWith('.meta.json')) heard.records(event === 'change');
  });
  add(mailbox, (name) => {
    for (const [gardenId, box] of boxes) {
      if (name !== null && name !== gardenId) continue;
      box.renew();
      heard.box(gardenId);
    }
  });
  add(receivers, (name) => {
    for (const gardenId of boxes.keys()) if (name === null || name === `${gardenId}.json`) heard.box(gardenId);
  });

  return {
    follow(gardenIds) {
      const wanted = new Set(gardenIds);
      for (const [gardenId, box] of boxes) {
        if (wanted.has(gardenId)) continue;
        box[Symbol.dispose]();
        boxes.delete(gardenId);
      }
      for (const gardenId of wanted) {
        if (boxes.has(gardenId)) continue;
        const told = (name: string | null): void => {
          if (name === null || MATTERS.test(name)) heard.box(gardenId);
        };
        boxes.set(gardenId, directories.add(join(mailbox, gardenId), told, 'deaf'));
      }
    },
    [Symbol.dispose]() {
      directories[Symbol.dispose]();
      boxes.clear();
    },
  };
}
