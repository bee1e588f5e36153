import type { Span } from '../../../model/index.ts';
import type { Base } from './checkpoint.ts';
import { type Cursor, toRecordIdentity } from './cursor.ts';
import { createLedger, type Diagnosis } from './ledger.ts';
import type { JournalLine } from './lines.ts';
import type { AppliedRecord, JournalListener } from './listener.ts';
import { createProjection, type Projection } from './projection.ts';
import { parseRecord, type RecordRefusal } from './record.ts';
import { type BoardSection, findSections } from './sections.ts';

/** A seq that is further ahead than this is believed only when the next record goes on from it. */
export const FAR = 10_000;
const MOST_MISSING = 64;

export interface ReplayOptions {
  /** Records with a higher seq are left out; null: none. */
  readonly until: number | null;
  /** Looked for, to say whether this is the same journal. */
  readonly saved: Cursor | null;
  /** The lines up to and with its anchor are not applied. */
  readonly base: Base | null;
  readonly listener: JournalListener | null;
}

/** The lines of a journal from the first on, in the order of segments and lines, and what has become of them. */
export interface JournalReplay {
  readonly projection: Projection;
  /** The lines of another segment follow. @param first the seq in its name */
  enter(first: number): void;
  take(segment: string, line: JournalLine): void;
  /** Records that were applied. */
  readonly applied: number;
  /** Null before the first record. */
  readonly cursor: Cursor | null;
  /** Where the last record applied lies. */
  readonly head: AppliedRecord | null;
  /** Of the first record there is: names the journal. Null before it. */
  readonly identity: string | null;
  /** Whether the saved cursor stands where it says. */
  readonly matchesSavedCursor: boolean;
  /** Whether the anchor of the base was met, without which nothing is applied. */
  readonly hasReachedBase: boolean;
  readonly affectedTypes: ReadonlySet<string>;
  readonly diagnosis: Diagnosis;
  /** Seqs that no segment holds, by the names of those there are, the last ones: what they did is not on the board. */
  readonly missing: readonly Span[];
  /** The sections that have changed since this was last asked. */
  changedSections(): ReadonlySet<BoardSection>;
}

export function startReplay({ until, saved, base, listener }: ReplayOptions): JournalReplay {
  const projection = createProjection();
  for (const item of base?.items ?? []) projection.seed(item);
  listener?.begin(projection);
  const anchor = base === null ? null : { seq: base.seq, isMet: base.isAnchor }; // without its items, which are large
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
  /** Was far ahead; skipped for now. */
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

  /** Lines with no seq of their own are of the time of those around them. */
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
