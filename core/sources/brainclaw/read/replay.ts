import type { Span } from '../../../model/index.ts';
import type { Base } from './checkpoint.ts';
import { type Cursor, toRecordIdentity } from './cursor.ts';
import { createLedger, type Diagnosis } from './ledger.ts';
import type { JournalLine } from './lines.ts';
import type { AppliedRecord, JournalListener } from './listener.ts';
import { createProjection, type Projection } from './projection.ts';
import { parseRecord, type RecordRefusal } from './record.ts';
import { type BoardSection, findSections } from './sections.ts';

/** A seq that is further ahead than this is accepted only when the next record continues from it. */
export const FAR = 10_000;
const MOST_MISSING = 64;

export interface ReplayOptions {
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
