import { isUtf8 } from 'node:buffer';
import type { Span } from '../../../model/index.ts';
import { type BoardSection, findSections } from './attention.ts';
import { type Base, type Cursor, toRecordIdentity } from './checkpoint.ts';
import { type AppliedRecord, createLedger, type Diagnosis, type JournalListener } from './ledger.ts';
import { createProjection, type Projection } from './projection.ts';
import type { ReadFiles } from './read-files.ts';
import { parseRecord, type RecordRefusal } from './record.ts';

/** A seq that is further ahead than this is accepted only when the next record continues from it. */
export const FAR = 10_000;
const MOST_MISSING = 64;

interface ReplayOptions {
  /** Records with a higher seq are left out; null for no limit. */
  readonly until: number | null;
  /** The cursor to find in the journal, which tells whether this is the same journal. */
  readonly saved: Cursor | null;
  /** Lines up to and including its anchor are not applied. */
  readonly base: Base | null;
  readonly listener: JournalListener | null;
}

/** The lines of a journal from the first on, in the order of segments and lines, and the state that they produce. */
export interface JournalReplay {
  readonly projection: Projection;
  /** The lines of another segment follow. @param first the seq in its name */
  enter(first: number): void;
  take(segment: string, line: JournalLine): void;
  /** How many records were applied. */
  readonly applied: number;
  /** Null before the first record. */
  readonly cursor: Cursor | null;
  /** The last applied record and its position. */
  readonly head: AppliedRecord | null;
  /** The identity of the first record, which identifies the journal. Null before the first record. */
  readonly identity: string | null;
  /** Whether the saved cursor's record is at its position. */
  readonly matchesSavedCursor: boolean;
  /** Whether the anchor of the base was found; before that, nothing is applied. */
  readonly hasReachedBase: boolean;
  readonly affectedTypes: ReadonlySet<string>;
  readonly diagnosis: Diagnosis;
  /**
   * Ranges of seqs that no segment holds, according to the segments' names; only the last ones. Their effects are not on the
   * board.
   */
  readonly missing: readonly Span[];
  /** The sections that have changed since the last call. */
  changedSections(): ReadonlySet<BoardSection>;
}

export function startReplay({ until, saved, base, listener }: ReplayOptions): JournalReplay {
  const projection = createProjection();
  for (const item of base?.items ?? []) projection.seed(item);
  listener?.begin(projection);
  const anchor = base === null ? null : { seq: base.seq, isMet: base.isAnchor }; // without the base's items, which are large
  const ledger = createLedger();
  const affected = new Set<string>();
  let sections = new Set<BoardSection>();
  let highest = base?.seq ?? 0;
  let applied = 0;
  let head: AppliedRecord | null = null;
  let identity: string | null = null;
  let matchesSavedCursor = false;
  let hasReachedBase = anchor === null;
  let reached = 0;
  let first = 1;
  let isFirst = true;
  let missing: Span[] = [];
  /** A record whose seq is far ahead. It is skipped until the next record confirms it. */
  let held: AppliedRecord | null = null;

  const apply = (appliedRecord: AppliedRecord): void => {
    const { record, segment, end } = appliedRecord;
    reached = Math.max(reached, record.seq);
    if (until !== null && record.seq > until) return;
    ledger.record(record);
    identity ??= toRecordIdentity(record);
    if (saved !== null && end === saved.offset && segment === saved.segment)
      matchesSavedCursor = toRecordIdentity(record) === saved.head_identity;
    if (!hasReachedBase) {
      hasReachedBase = anchor?.isMet(record) === true;
      if (hasReachedBase) head = appliedRecord;
      return;
    }
    const effect = projection.apply(record);
    if (effect.is === 'changed') {
      affected.add(effect.itemType);
      for (const section of findSections(effect.itemType)) sections.add(section);
    } else if (effect.is === 'activity') sections.add('activity');
    applied += 1;
    highest = Math.max(highest, record.seq);
    head = appliedRecord;
    listener?.applied(appliedRecord, effect);
  };

  const skip = (segment: string, byte: number, why: RecordRefusal): void => {
    ledger.skip(segment, byte, why);
    listener?.skipped({ segment, byte, why });
  };

  /** A line without a seq counts as being as old as the lines around it. */
  const isPast = (): boolean => until !== null && reached > until;

  return {
    projection,
    enter: (next) => {
      const known = isFirst ? (anchor?.seq ?? 0) : reached;
      if (next > known + 1) missing = [...missing, { from: known + 1, to: next - 1 }].slice(-MOST_MISSING);
      if (isFirst) ledger.startAt(next - 1);
      isFirst = false;
      first = next;
    },
    take: (segment, line) => {
      const read = line.is === 'line' ? parseRecord(line.text) : { is: 'refused' as const, why: line.is };
      if (read.is === 'refused') return isPast() ? undefined : skip(segment, line.start, read.why);
      const { record } = read;
      const appliedRecord: AppliedRecord = { record, segment, start: line.start, end: line.end };
      const before = held;
      held = null;
      if (record.seq <= Math.max(reached, first - 1) + FAR) return apply(appliedRecord);
      if (before !== null && record.seq === before.record.seq + 1) {
        ledger.unskip();
        apply(before);
        return apply(appliedRecord);
      }
      skip(segment, line.start, 'seq-too-far');
      held = appliedRecord;
    },
    get applied() {
      return applied;
    },
    get cursor() {
      if (head === null) return null;
      const { record, segment, end } = head;
      return { seq: highest, segment, offset: end, head_identity: toRecordIdentity(record) };
    },
    get head() {
      return head;
    },
    get identity() {
      return identity;
    },
    get matchesSavedCursor() {
      return matchesSavedCursor && highest >= (saved?.seq ?? 0);
    },
    get hasReachedBase() {
      return hasReachedBase;
    },
    affectedTypes: affected,
    get diagnosis() {
      return ledger.diagnosis;
    },
    get missing() {
      return missing;
    },
    changedSections: () => {
      const changed = sections;
      sections = new Set();
      return changed;
    },
  };
}

/** The longest line that is read; a longer one is skipped. A handoff of the real store has 225 KB. */
export const MOST_LINE = 16 * 1024 * 1024;
const CHUNK = 1024 * 1024;
const NEWLINE = 0x0a;

/** How far a file was read. */
export interface ReadPosition {
  /** Up to this byte, everything was in lines that were passed on. */
  offset: number;
  /** The current line is too long and is skipped up to its newline. */
  passing: boolean;
}

interface JournalLine {
  readonly is: 'line' | 'not-utf8' | 'too-long';
  /** Empty unless `is` is `line`. */
  readonly text: string;
  /** The offset of its first byte in the file. */
  readonly start: number;
  /** The offset after its newline. For a line that is too long, the offset at which it was given up. */
  readonly end: number;
}

/**
 * Passes on the lines from a position on, one after the other; empty ones are left out. A line counts only with its newline:
 * bytes after the last one are not passed on, and the position stays before them (brainclaw contract 2, trap 4). The position is
 * correct at any time, also when `onLine` or the disk throws.
 * @returns the number of bytes after the last newline
 */
export function readLines(
  files: ReadFiles,
  fd: number,
  place: ReadPosition,
  onLine: (line: JournalLine) => void,
): number {
  let buffer = Buffer.allocUnsafe(CHUNK);
  let filled = 0;
  for (;;) {
    if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    const got = files.read(fd, buffer.subarray(filled), place.offset + filled);
    if (got === 0) return place.passing ? 0 : filled;
    const from = filled;
    filled += got;
    const done = emitWholeLines(buffer.subarray(0, filled), from, place, onLine);
    buffer.copyWithin(0, done, filled);
    filled -= done;
  }
}

/** @returns how many of the bytes were handled, by which the position has moved */
function emitWholeLines(bytes: Buffer, from: number, place: ReadPosition, onLine: (line: JournalLine) => void): number {
  const base = place.offset;
  let start = 0;
  let end = bytes.indexOf(NEWLINE, from);
  if (end >= 0) {
    const sound = isUtf8(bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1));
    for (; end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const next = end + 1;
      place.offset = base + next;
      if (place.passing) place.passing = false;
      else if (end - start > MOST_LINE) onLine(createLine('too-long', '', base + start, base + next));
      else if (end > start) {
        const isText = sound || isUtf8(bytes.subarray(start, end));
        const text = isText ? bytes.toString('utf8', start, end) : '';
        onLine(createLine(isText ? 'line' : 'not-utf8', text, base + start, base + next));
      }
      start = next;
    }
  }
  if (place.passing || bytes.length - start > MOST_LINE) {
    const isNew = !place.passing;
    place.passing = true;
    place.offset = base + bytes.length;
    if (isNew) onLine(createLine('too-long', '', base + start, place.offset));
    return bytes.length;
  }
  return start;
}

const createLine = (is: JournalLine['is'], text: string, start: number, end: number): JournalLine => ({
  is,
  text,
  start,
  end,
});
