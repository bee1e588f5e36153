import { join } from 'node:path';
import type { Instant } from '../../../model/index.ts';
import type { Clock, Stat } from '../../../ports/index.ts';
import type { Disk } from '../../../state/index.ts';
import { shareReading } from '../../source-tools.ts';
import { type MetaRecord, SCHEMAS } from './record.ts';
import { listNames, readOwners, readStat } from './small-file.ts';
import { type Defect, isRecordName, type Listing, type NamedRecord, readRecordFile, toListing } from './store.ts';

/** The records of a store as they were read last, also by garden id. */
export interface RecordListing extends Listing {
  readonly byId: ReadonlyMap<string, MetaRecord>;
}

/** Reads the records of a store. Only files that changed are read again. */
export interface RecordReader {
  /**
   * The current records. While nothing changed, this costs one stat and returns the same object.
   * @throws Fault `unreadable` when the directory cannot be read; a missing directory is an empty store
   */
  refresh(): Promise<RecordListing>;
  /** Makes the next read check every file: one may have been written in place, which the directory's stat does not show. */
  doubt(): void;
  /** The result of the last read; empty before the first. */
  readonly last: RecordListing;
}

/** After this many files other work gets a turn. */
const AT_ONCE = 200;
/** How often each file is checked although the directory's stat did not change. */
const DOUBT_MS = 600_000;
const NOTHING: RecordListing = { records: [], errors: [], byId: new Map() };

interface CachedRecord {
  /** Null when the file may have changed since without getting another stamp. */
  readonly stamp: StatStamp | null;
  readonly entry: NamedRecord | Defect;
}

export function createRecordReader(disk: Disk, sessions: string, clock: Clock): RecordReader {
  const never = new AbortController().signal;
  let files = new Map<string, CachedRecord>();
  let last = NOTHING;
  /** The directory as it was read last; its stamp is null when there was none. */
  let known: { readonly stamp: StatStamp | null; readonly isStampProof: boolean } | null = null;
  let doubtAt = Number.NEGATIVE_INFINITY;

  async function readAnew(): Promise<RecordListing> {
    const at = clock.now();
    const sessionsStat = readStat(disk, sessions);
    const stamp = sessionsStat === null ? null : toStamp(sessionsStat);
    const isDoubted = clock.monotonic() >= doubtAt;
    if (!isDoubted && known?.isStampProof === true && isSameDirectory(known.stamp, stamp)) return last;
    const owners = readOwners(disk, sessions);
    const before = files;
    const after = new Map<string, CachedRecord>();
    let isSame = true;
    let read = 0;
    let areStampsProof = true;
    const listed = listNames(disk, sessions).filter(isRecordName);
    for (const filename of addMissed(listed, before)) {
      const stat = tryLstat(join(sessions, filename));
      const isOld = stat !== null && stat.ctimeMs < at - COARSE_MS;
      const fileStamp = isOld ? toStamp(stat) : null;
      areStampsProof &&= isOld;
      const was = before.get(filename);
      if (was !== undefined && was.stamp !== null && fileStamp !== null && isSameStamp(was.stamp, fileStamp)) {
        after.set(filename, was);
        continue;
      }
      isSame = false;
      const entry = readRecordFile(disk, sessions, filename, SCHEMAS, owners);
      if (entry !== null) after.set(filename, { stamp: fileStamp, entry });
      read += 1;
      if (read % AT_ONCE === 0) await clock.sleep(0, never);
    }
    known = { stamp, isStampProof: sessionsStat === null || (areStampsProof && isStampProof(sessionsStat, at)) };
    if (isDoubted) doubtAt = clock.monotonic() + DOUBT_MS;
    if (!isSame || after.size !== before.size) {
      const listing = toListing([...after.values()].map(({ entry }) => entry));
      last = { ...listing, byId: new Map(listing.records.map((record) => [record.gardenId, record])) };
    }
    files = after;
    return last;
  }

  /**
   * Adds known files that the listing lacks. A listing made while a file is renamed over another may have neither name, and only
   * a citizen that is really gone may be reported as gone.
   */
  function addMissed(listed: readonly string[], before: ReadonlyMap<string, CachedRecord>): readonly string[] {
    const listedNames = new Set(listed);
    const missed = [...before.keys()].filter(
      (name) => !listedNames.has(name) && tryLstat(join(sessions, name)) !== null,
    );
    return missed.length === 0 ? listed : [...listed, ...missed].sort();
  }

  /** Null when the file cannot be checked; the reader of the file says why. */
  function tryLstat(path: string): Stat | null {
    try {
      return disk.files.lstat(path);
    } catch {
      return null; // reading the file gives the same error, with its name
    }
  }

  return {
    refresh: shareReading(readAnew).read,
    doubt() {
      doubtAt = Number.NEGATIVE_INFINITY;
    },
    get last() {
      return last;
    },
  };
}

/** Whether both are the same directory, or both are missing. */
export function isSameDirectory(a: StatStamp | null, b: StatStamp | null): boolean {
  return a === null || b === null ? a === b : isSameStamp(a, b);
}

/** Two equal stamps mean the same file or directory, without any change in between that the disk reports. */
export type StatStamp = Pick<Stat, 'dev' | 'ino' | 'size' | 'ctimeMs'>;

export function toStamp({ dev, ino, size, ctimeMs }: Stat): StatStamp {
  return { dev, ino, size, ctimeMs };
}

/** Compares numbers and builds no text, because a store has thousands of files and each is compared every minute. */
export function isSameStamp(a: StatStamp, b: StatStamp): boolean {
  return a.ctimeMs === b.ctimeMs && a.ino === b.ino && a.size === b.size && a.dev === b.dev;
}

/** How coarse the disk's clock may be, and how far it may be behind ours. */
export const COARSE_MS = 100;

/**
 * Whether an unchanged stamp proves that a directory has the same names as at `readAt`, just before it was read. It does not when
 * the directory changed right then, because a later change could have the same time. Behind a symlink nothing is known.
 */
export function isStampProof({ kind, ctimeMs }: Stat, readAt: Instant): boolean {
  return kind === 'directory' && ctimeMs < readAt - COARSE_MS;
}
