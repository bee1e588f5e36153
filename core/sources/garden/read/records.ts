import { join } from 'node:path';
import type { Clock, Stat } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';
import type { MetaRecord } from './record.ts';
import { SCHEMAS } from './record.ts';
import { namesIn, ownersOf, statOf } from './small-file.ts';
import { COARSE_MS, isSettled, stampOf } from './stamp.ts';
import { type Defect, isRecordName, type Listing, listingOf, type Named, readOne } from './store.ts';

/** The records of a store as they were read last, by garden id. */
export interface Kept extends Listing {
  readonly byId: ReadonlyMap<string, MetaRecord>;
}

/** The records of a store, of which only those that changed are read again. */
export interface Records {
  /**
   * As they are now. While nothing changed it costs one stat, and is the same object.
   * @throws Fault `unreadable` when the directory can not be read; one that is not there is an empty store
   */
  now(): Promise<Kept>;
  /** A file may have been written where it stands, which its directory does not tell: the next reading asks each. */
  doubt(): void;
  /** The last reading; empty before the first. */
  readonly last: Kept;
}

/** Files read at once; then others have their turn. */
const AT_ONCE = 200;
/** Each file is asked this often although its directory says that nothing changed. */
const DOUBT_MS = 600_000;
const NOTHING: Kept = { records: [], errors: [], byId: new Map() };

interface Read {
  /** Null: it may have changed since without another one. */
  readonly stamp: string | null;
  readonly one: Named | Defect;
}

export function keepRecords(disk: Disk, sessions: string, clock: Clock): Records {
  const never = new AbortController().signal;
  let files = new Map<string, Read>();
  let last = NOTHING;
  let known: { readonly stamp: string; readonly isSettled: boolean } | null = null;
  let doubtAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Kept> | null = null;
  let next: Promise<Kept> | null = null;

  async function readAnew(): Promise<Kept> {
    const at = clock.now();
    const there = statOf(disk, sessions);
    const stamp = there === null ? '' : stampOf(there);
    const isDoubted = clock.monotonic() >= doubtAt;
    if (!isDoubted && known !== null && known.stamp === stamp && known.isSettled) return last;
    const owners = ownersOf(disk, sessions);
    const before = files;
    const after = new Map<string, Read>();
    let isSame = true;
    let read = 0;
    let areSettled = true;
    const listed = namesIn(disk, sessions).filter(isRecordName);
    for (const filename of withMissed(listed, before)) {
      const stat = lstatOrNull(join(sessions, filename));
      const isOld = stat !== null && stat.ctimeMs < at - COARSE_MS;
      const mark = isOld ? stampOf(stat) : null;
      areSettled &&= isOld;
      const was = before.get(filename);
      if (was !== undefined && mark !== null && was.stamp === mark) {
        after.set(filename, was);
        continue;
      }
      isSame = false;
      const one = readOne(disk, sessions, filename, SCHEMAS, owners);
      if (one !== null) after.set(filename, { stamp: mark, one });
      read += 1;
      if (read % AT_ONCE === 0) await clock.sleep(0, never);
    }
    known = { stamp, isSettled: there === null || (areSettled && isSettled(there, at)) };
    if (isDoubted) doubtAt = clock.monotonic() + DOUBT_MS;
    if (!isSame || after.size !== before.size) {
      const listing = listingOf([...after.values()].map(({ one }) => one));
      last = { ...listing, byId: new Map(listing.records.map((record) => [record.gardenId, record])) };
    }
    files = after;
    return last;
  }

  /** A listing made while a file is renamed over another one may have neither: who is said to be gone is gone. */
  function withMissed(listed: readonly string[], before: ReadonlyMap<string, Read>): readonly string[] {
    const there = new Set(listed);
    const missed = [...before.keys()].filter((name) => !there.has(name) && lstatOrNull(join(sessions, name)) !== null);
    return missed.length === 0 ? listed : [...listed, ...missed].sort();
  }

  /** Null: it can not be looked at, and who reads it says why. */
  function lstatOrNull(path: string): Stat | null {
    try {
      return disk.files.lstat(path);
    } catch {
      return null; // reading it says the same, with its name
    }
  }

  function start(): Promise<Kept> {
    reading = readAnew().finally(() => {
      reading = null;
    });
    return reading;
  }

  return {
    now() {
      if (reading === null) return start();
      // What is being read may miss what changed since it began: who asks meanwhile shares the next reading.
      next ??= reading
        .catch(() => {})
        .then(() => {
          next = null;
          return start();
        });
      return next;
    },
    doubt() {
      doubtAt = Number.NEGATIVE_INFINITY;
    },
    get last() {
      return last;
    },
  };
}
