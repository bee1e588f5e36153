import type { Instant } from '../../../model/index.ts';
import { Fault } from '../../../model/index.ts';
import type { Disk } from '../../../state/index.ts';
import { type BoxState, readBox, toBoxPath } from './mailbox.ts';
import { readReceipt } from './receipt.ts';
import { listNames, readStat, tryStat } from './small-file.ts';
import { isSettled, toStamp } from './stamp.ts';
import type { Defect } from './store.ts';

/** A citizen's box, with its problems. */
export interface BoxReading {
  readonly box: BoxState;
  /** `filename` is `<garden id>/<name>`. */
  readonly errors: readonly Defect[];
}

/** Reads the boxes of a store. Only boxes that changed are read again. */
export interface BoxReader {
  /**
   * Reads one box. While nothing changed, this costs a few stats and returns the same object.
   * @param isSure false: also checks what the directory's stat does not show, the size of a body and the signal
   * @throws Fault `unreadable` when the directory of all boxes cannot be read
   */
  read(gardenId: string, isSure: boolean): BoxReading;
  forget(gardenId: string): void;
}

interface CachedBox extends BoxReading {
  readonly stamp: string;
  readonly isSettled: boolean;
}

const NO_BOX: BoxReading = { box: { is: 'none' }, errors: [] };

export function createBoxReader(disk: Disk, mailbox: string, now: () => Instant): BoxReader {
  const cache = new Map<string, CachedBox>();

  function read(gardenId: string, at: Instant): BoxReading | CachedBox {
    const statResult = tryStat(disk, toBoxPath(mailbox, gardenId));
    if (statResult.is === 'absent') return NO_BOX;
    const box = readBox(disk, mailbox, gardenId);
    if (box.is === 'refused') listNames(disk, mailbox); // throws when the store is the cause, and not this box
    const errors = box.is === 'box' ? [...box.errors, ...findReceiptErrors(gardenId)] : [];
    if (box.is === 'refused') errors.push({ filename: '', message: box.why });
    const reading = {
      box,
      errors: errors.map(({ filename, message }) => ({
        filename: filename === '' ? gardenId : `${gardenId}/${filename}`,
        message,
      })),
    };
    if (statResult.is !== 'stat' || box.is !== 'box') return reading;
    return { ...reading, stamp: toStamp(statResult.stat), isSettled: isSettled(statResult.stat, at) };
  }

  function findReceiptErrors(gardenId: string): readonly Defect[] {
    try {
      readReceipt(disk, mailbox, gardenId);
      return [];
    } catch (error) {
      if (error instanceof Fault) return [{ filename: 'state.json', message: error.message }];
      throw error;
    }
  }

  return {
    read(gardenId, isSure) {
      const mailboxStat = readStat(disk, mailbox);
      if (mailboxStat !== null && mailboxStat.kind !== 'directory') listNames(disk, mailbox); // a link to a directory is accepted
      const known = cache.get(gardenId);
      if (isSure && known?.isSettled === true) {
        const statResult = tryStat(disk, toBoxPath(mailbox, gardenId));
        if (statResult.is === 'stat' && toStamp(statResult.stat) === known.stamp) return known;
      }
      const reading = read(gardenId, now());
      if ('stamp' in reading) cache.set(gardenId, reading);
      else cache.delete(gardenId);
      return reading;
    },
    forget: (gardenId) => void cache.delete(gardenId),
  };
}
