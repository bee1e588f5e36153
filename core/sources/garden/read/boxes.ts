import type { Instant } from '../../../model/index.ts';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { type BoxLook, boxDirectory, lookInBox } from './mailbox.ts';
import { readReceipt } from './receipt.ts';
import { namesIn, statOf, tryStat } from './small-file.ts';
import { isSettled, stampOf } from './stamp.ts';
import type { Defect } from './store.ts';

/** A citizen's box, with what is wrong in it. */
export interface BoxSeen {
  readonly box: BoxLook;
  /** `filename` is `<garden id>/<name>`. */
  readonly errors: readonly Defect[];
}

/** The boxes of a store, of which only those that changed are read again. */
export interface Boxes {
  /**
   * While nothing changed it costs a few stats, and is the same object.
   * @param isSure false: what its directory does not tell counts too, which is the size of a body and the signal
   * @throws Fault `unreadable` when the directory of all boxes can not be read
   */
  look(gardenId: string, isSure: boolean): BoxSeen;
  forget(gardenId: string): void;
}

interface Seen extends BoxSeen {
  readonly stamp: string;
  readonly isSettled: boolean;
}

const NONE: BoxSeen = { box: { is: 'none' }, errors: [] };

export function keepBoxes(disk: Disk, mailbox: string, now: () => Instant): Boxes {
  const seen = new Map<string, Seen>();

  function read(gardenId: string, at: Instant): BoxSeen | Seen {
    const there = tryStat(disk, boxDirectory(mailbox, gardenId));
    if (there.is === 'absent') return NONE;
    const box = lookInBox(disk, mailbox, gardenId);
    if (box.is === 'refused') namesIn(disk, mailbox); // throws where the store is to blame, and not this box
    const errors = box.is === 'box' ? [...box.errors, ...receiptErrors(gardenId)] : [];
    if (box.is === 'refused') errors.push({ filename: '', message: box.why });
    const found = {
      box,
      errors: errors.map(({ filename, message }) => ({
        filename: filename === '' ? gardenId : `${gardenId}/${filename}`,
        message,
      })),
    };
    if (there.is !== 'stat' || box.is !== 'box') return found;
    return { ...found, stamp: stampOf(there.stat), isSettled: isSettled(there.stat, at) };
  }

  function receiptErrors(gardenId: string): readonly Defect[] {
    try {
      readReceipt(disk, mailbox, gardenId);
      return [];
    } catch (error) {
      if (error instanceof Fault) return [{ filename: 'state.json', message: error.message }];
      throw error;
    }
  }

  return {
    look(gardenId, isSure) {
      const all = statOf(disk, mailbox);
      if (all !== null && all.kind !== 'directory') namesIn(disk, mailbox); // a link to a directory is one
      const known = seen.get(gardenId);
      if (isSure && known?.isSettled === true) {
        const there = tryStat(disk, boxDirectory(mailbox, gardenId));
        if (there.is === 'stat' && stampOf(there.stat) === known.stamp) return known;
      }
      const found = read(gardenId, now());
      if ('stamp' in found) seen.set(gardenId, found);
      else seen.delete(gardenId);
      return found;
    },
    forget: (gardenId) => void seen.delete(gardenId),
  };
}
