import { join } from 'node:path';
import { createRefusal, toIoFault } from '../../../state/index.ts';
import type { BoardSection } from './attention.ts';
import { type Base, type Bases, type Cursor, type RefusedBase, toRecordIdentity } from './checkpoint.ts';
import type { AppliedRecord, JournalListener } from './ledger.ts';
import { readSegments, type SegmentFile, type Segments, toStamp } from './mail.ts';
import { openFile, type ReadFiles, readBytes } from './read-files.ts';
import { parseRecord } from './record.ts';
import { type JournalReplay, type ReadPosition, readLines, startReplay } from './replay.ts';

export interface JournalReaderOptions {
  /** How far an earlier reader came; null when there was none, or it saved nothing. */
  readonly saved?: Cursor | null;
  /** Records with a higher seq are left out; null for no limit. */
  readonly until?: number | null;
  /**
   * The bases from which a replay can begin. Called only when the first segments are gone (brainclaw contract 3).
   * @param first the lowest seq that a segment holds
   */
  readonly bases?: (first: number) => Bases;
  readonly listener?: JournalListener | null;
}

/** Why the journal was read from its start again. */
export type ReplayReason =
  | 'first'
  | 'segment-gone'
  | 'segment-before'
  | 'segment-replaced'
  | 'segment-shorter'
  | 'old-segment-changed'
  | 'head-changed';

export type RefreshResult =
  | { readonly is: 'off' }
  | { readonly is: 'same' }
  | { readonly is: 'grown'; readonly records: number; readonly sections: ReadonlySet<BoardSection> }
  | { readonly is: 'replayed'; readonly why: ReplayReason; readonly records: number };

/** A journal as of the last refresh. */
export interface JournalView {
  readonly replay: JournalReplay;
  /** The checkpoint from which the replay began; null when it began with the first record. */
  readonly base: Pick<Base, 'name' | 'seq'> | null;
  /** Checkpoints that would have been needed and were refused. */
  readonly refusedBases: readonly RefusedBase[];
  /** `other`: not the journal that was read before. `none`: no journal was read before. */
  readonly continuity: 'none' | 'same' | 'other';
  readonly segments: readonly SegmentView[];
  readonly decoys: readonly string[];
  /** Whether the board includes everything that was ever recorded; a base counts as complete. */
  readonly isComplete: boolean;
}

export interface SegmentView {
  readonly name: string;
  /** How many bytes are read. */
  readonly offset: number;
  /** Bytes after the last newline: a record that is being written, or was never finished. */
  readonly unfinished: number;
  /** Why the segment could not be read; null when it was read. */
  readonly unreadable: string | null;
}

/** Reads a journal, and then what is added to it. */
export interface JournalReader {
  /**
   * Reads what was added. A journal that is not the same as before is read from its start again, without an error (brainclaw
   * contract 2, 9).
   * @throws Fault `unreadable` when the disk fails; what was read stays as it was, and the next call continues
   */
  refresh(): RefreshResult;
  /** Null while the journal is off, and before the first refresh. */
  readonly view: JournalView | null;
}

interface Segment {
  readonly file: SegmentFile;
  stamp: string;
  size: number;
  readonly place: ReadPosition;
  unfinished: number;
  unreadable: string | null;
}

interface JournalState {
  readonly replay: JournalReplay;
  readonly base: JournalView['base'];
  readonly refusedBases: readonly RefusedBase[];
  readonly saved: Cursor | null;
  readonly segments: Segment[];
  decoys: readonly string[];
}

const ATTEMPTS = 4;
const NO_BASES: Bases = { bases: [], refused: [] };

/** @param directory the `events` of a store */
export function createJournalReader(
  files: ReadFiles,
  directory: string,
  options: JournalReaderOptions = {},
): JournalReader {
  const { until = null, bases = () => NO_BASES, listener = null } = options;
  let saved = options.saved ?? null;
  let state: JournalState | null = null;

  const readListing = (listing: Segments): RefreshResult | 'moved' => {
    const why = state === null || isUnbegun(state, listing) ? 'first' : findBreak(files, directory, state, listing);
    if (state !== null && why === null) return advance(files, directory, state, listing);
    saved = state?.replay.cursor ?? saved;
    const next = replayListing(listing);
    if (next === 'moved') return next;
    state = next;
    next.replay.changedSections();
    return { is: 'replayed', why: why ?? 'first', records: next.replay.applied };
  };

  const replayListing = (listing: Segments): JournalState | 'moved' => {
    const first = listing.files[0]?.first ?? 1;
    const candidates = first > 1 ? bases(first) : NO_BASES;
    const refusedBases = [...candidates.refused];
    for (const base of [...candidates.bases, null]) {
      if (base !== null && until !== null && base.seq > until) continue;
      const replay = startReplay({ until, saved, base, listener });
      const from = base === null ? null : { name: base.name, seq: base.seq };
      const next: JournalState = { replay, base: from, refusedBases, saved, segments: [], decoys: [] };
      if (advance(files, directory, next, listing) === 'moved') return 'moved';
      if (replay.hasReachedBase) return next;
      if (base !== null)
        refusedBases.push({ name: base.name, why: 'the journal does not have the record it ends with' });
    }
    throw new Error('a replay without a base needs none');
  };

  return {
    refresh: () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const listing = readSegments(files, directory);
        if (listing === null) {
          saved = state?.replay.cursor ?? saved;
          state = null;
          return { is: 'off' };
        }
        const refreshed = readListing(listing);
        if (refreshed !== 'moved') return refreshed;
      }
      throw createRefusal(directory, 'its segments change faster than they can be read', 'unreadable');
    },
    get view() {
      return state === null ? null : toView(state);
    },
  };
}

function toView({ replay, base, refusedBases, saved, segments, decoys }: JournalState): JournalView {
  return {
    replay,
    base,
    refusedBases,
    continuity: saved === null ? 'none' : replay.matchesSavedCursor ? 'same' : 'other',
    segments: segments.map(({ file, place, unfinished, unreadable }) => ({
      ...{ name: file.name, offset: place.offset, unfinished, unreadable },
    })),
    decoys,
    isComplete: replay.missing.length === 0 && segments.every(({ unreadable }) => unreadable === null),
  };
}

/** Whether an empty journal now has its first segments; only these show whether a base is needed. */
const isUnbegun = ({ segments }: JournalState, listing: Segments): boolean =>
  segments.length === 0 && listing.files.length > 0;

/** Why a replay would now read something else than what was read so far; null when it would not. */
function findBreak(files: ReadFiles, directory: string, state: JournalState, listing: Segments): ReplayReason | null {
  const { segments } = state;
  for (const [index, known] of segments.entries()) {
    const now = listing.files[index];
    if (now?.name !== known.file.name)
      return now !== undefined && now.name < known.file.name ? 'segment-before' : 'segment-gone';
    if (now.stat.ino !== known.file.stat.ino || now.stat.dev !== known.file.stat.dev) return 'segment-replaced';
    if (toStamp(now.stat) === known.stamp) continue;
    if (now.stat.size < known.place.offset + known.unfinished) return 'segment-shorter';
    if (known.unreadable !== null) return 'segment-replaced';
    if (index < segments.length - 1 && now.stat.size !== known.size) return 'old-segment-changed';
    const { head } = state.replay;
    if (head?.segment === now.name && !hasRecordAt(files, join(directory, now.name), head)) return 'head-changed';
  }
  return null;
}

/** Whether a record is still at the position where it was read. */
function hasRecordAt(files: ReadFiles, path: string, { record, start, end }: AppliedRecord): boolean {
  const opened = openFile(files, path);
  if (opened.is !== 'open') return false;
  try {
    const line = readBytes(files, opened.fd, start, end - start).toString('utf8');
    const read = line.endsWith('\n') ? parseRecord(line.slice(0, -1)) : null;
    return read?.is === 'record' && toRecordIdentity(read.record) === toRecordIdentity(record);
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    files.close(opened.fd);
  }
}

/** Reads what the segments hold beyond what was read. `moved`: one of them is no longer the file that was listed. */
function advance(files: ReadFiles, directory: string, state: JournalState, listing: Segments): RefreshResult | 'moved' {
  const { replay, segments } = state;
  const before = replay.applied;
  let isSame = state.decoys.length === listing.decoys.length;
  state.decoys = listing.decoys;
  for (const [index, file] of listing.files.entries()) {
    let segment = segments[index];
    if (segment === undefined) {
      segment = { file, stamp: '', size: 0, place: { offset: 0, passing: false }, unfinished: 0, unreadable: null };
      segments.push(segment);
      replay.enter(file.first);
    }
    if (segment.stamp === toStamp(file.stat)) continue;
    isSame = false;
    if (!readOn(files, directory, segment, replay)) return 'moved';
  }
  return isSame
    ? { is: 'same' }
    : { is: 'grown', records: replay.applied - before, sections: replay.changedSections() };
}

/** @returns false when the file is another one by now, or gone */
function readOn(files: ReadFiles, directory: string, segment: Segment, replay: JournalReplay): boolean {
  const { name, stat } = segment.file;
  const path = join(directory, name);
  const opened = openFile(files, path);
  if (opened.is === 'absent') return false;
  if (opened.is === 'refused') {
    segment.unreadable = opened.why;
    segment.stamp = toStamp(stat);
    return true;
  }
  try {
    if (opened.stat.ino !== stat.ino || opened.stat.dev !== stat.dev) return false;
    segment.unfinished = readLines(files, opened.fd, segment.place, (line) => replay.take(name, line));
    segment.stamp = toStamp(opened.stat);
    segment.size = Math.max(opened.stat.size, segment.place.offset + segment.unfinished);
    return true;
  } catch (error) {
    throw toIoFault(error, path, 'unreadable');
  } finally {
    files.close(opened.fd);
  }
}
