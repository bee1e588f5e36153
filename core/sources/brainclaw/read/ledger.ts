import type { Span } from '../../../model/index.ts';
import { findEventClass, isKnownAction, type Projection, type RecordEffect, shortenText } from './projection.ts';
import type { JournalRecord, RecordRefusal } from './record.ts';

/** A line that is no record. */
export interface SkippedLine {
  readonly segment: string;
  /** The offset of its first byte in the segment. */
  readonly byte: number;
  readonly why: RecordRefusal;
  /** Whether a later note of a writer accounts for the line, as a torn record. */
  readonly adjudicated: boolean;
}

/** How a record breaks the rules of its class. The board uses whatever the record has. */
export type Violation = 'no-item-id' | 'no-payload' | 'no-revision' | 'payload-elsewhere' | 'payload-forbidden';

/** What is wrong with a journal, for the doctor. Its size is bounded, whatever the journal holds. */
export interface Diagnosis {
  /** How many lines are no records. The unfinished line at the end does not count. */
  readonly skipped: number;
  readonly skippedBy: Readonly<Partial<Record<RecordRefusal, number>>>;
  /** The last skipped lines. */
  readonly lastSkipped: readonly SkippedLine[];
  /** How many skipped lines a later note of a writer accounts for. */
  readonly adjudicated: number;
  readonly adjudicatedBy: Readonly<Partial<Record<RecordRefusal, number>>>;
  /** How many records have the seq of an earlier one. */
  readonly duplicates: number;
  /** Ranges of seqs that no record has, ascending; only the last ones. */
  readonly gaps: readonly Span[];
  /** How many seqs are missing in total. */
  readonly missingSeqs: number;
  readonly seqRepairs: number;
  readonly violations: Readonly<Partial<Record<Violation, number>>>;
  /** How often each action occurs that is not in the table. */
  readonly unknownActions: Readonly<Record<string, number>>;
}

interface JournalLedger {
  skip(segment: string, byte: number, why: RecordRefusal): void;
  /** Takes back the last skipped line, which was a record after all. */
  unskip(): void;
  record(record: JournalRecord): void;
  /** The highest seq so far is at least this one, and lower seqs are no gap. */
  startAt(seq: number): void;
  readonly diagnosis: Diagnosis;
}

const MOST_SKIPPED = 64;
const MOST_GAPS = 64;
/** How many gaps are remembered, so that a record that comes late is recognised. */
const MOST_GAPS_KNOWN = 1024;
const MOST_ACTIONS = 64;
const MOST_ACTION = 64;

export function createLedger(): JournalLedger {
  const skippedBy = new Map<RecordRefusal, number>();
  const violations = new Map<Violation, number>();
  const unknown = new Map<string, number>();
  const last: { -readonly [K in keyof SkippedLine]: SkippedLine[K] }[] = [];
  const gaps: Span[] = [];
  let missingSeqs = 0;
  let head = 0;
  const adjudicatedBy = new Map<RecordRefusal, number>();
  let duplicates = 0;
  let seqRepairs = 0;

  const noteSeq = (seq: number): void => {
    if (seq > head) {
      if (seq > head + 1) {
        gaps.push({ from: head + 1, to: seq - 1 });
        missingSeqs += seq - head - 1;
        if (gaps.length > MOST_GAPS_KNOWN) gaps.shift();
      }
      head = seq;
      return;
    }
    const late = gaps.findIndex(({ from, to }) => from <= seq && seq <= to);
    const gap = gaps[late];
    if (gap === undefined) {
      duplicates += 1;
      return;
    }
    missingSeqs -= 1;
    const rest = [
      { from: gap.from, to: seq - 1 },
      { from: seq + 1, to: gap.to },
    ];
    gaps.splice(late, 1, ...rest.filter(({ from, to }) => from <= to));
  };

  const adjudicate = ({ payload }: JournalRecord): void => {
    const { segment, byte_start: start, byte_end: end } = payload ?? {};
    if (typeof start !== 'number' || typeof end !== 'number') return;
    for (const skipped of last) {
      if (skipped.adjudicated || skipped.segment !== segment || skipped.byte < start || skipped.byte >= end) continue;
      skipped.adjudicated = true;
      add(adjudicatedBy, skipped.why);
    }
  };

  return {
    skip: (segment, byte, why) => {
      add(skippedBy, why);
      last.push({ segment, byte, why, adjudicated: false });
      if (last.length > MOST_SKIPPED) last.shift();
    },
    unskip: () => {
      const skipped = last.pop();
      if (skipped !== undefined) add(skippedBy, skipped.why, -1);
    },
    record: (record) => {
      noteSeq(record.seq);
      const { action, payload } = record;
      for (const violation of findViolations(record)) add(violations, violation);
      if (action === 'seq_repair') seqRepairs += 1;
      else if (action === 'journal_note' && payload?.kind === 'torn_tail_adjudicated') adjudicate(record);
      if (isKnownAction(action)) return;
      const name = shortenText(action, MOST_ACTION);
      if (unknown.has(name) || unknown.size < MOST_ACTIONS) add(unknown, name);
    },
    startAt: (seq) => {
      head = Math.max(head, seq);
    },
    get diagnosis() {
      return {
        skipped: sumCounts(skippedBy),
        skippedBy: Object.fromEntries([...skippedBy].filter(([, count]) => count > 0)),
        lastSkipped: last.map((skipped) => ({ ...skipped })),
        adjudicated: sumCounts(adjudicatedBy),
        adjudicatedBy: Object.fromEntries(adjudicatedBy),
        duplicates,
        gaps: gaps.slice(-MOST_GAPS),
        missingSeqs,
        seqRepairs,
        violations: Object.fromEntries(violations),
        unknownActions: Object.fromEntries(unknown),
      };
    },
  };
}

/**
 * How a record breaks the rules of its class. Writers only count such cases, so these records do reach the disk (brainclaw
 * contract 1).
 */
export function findViolations({
  action,
  item_id,
  entity_rev,
  payload,
  payload_ref,
}: JournalRecord): readonly Violation[] {
  const violations: Violation[] = [];
  if (payload_ref !== null) violations.push('payload-elsewhere');
  const eventClass = findEventClass(action);
  const isState = eventClass === 'entity-state';
  if (!isState && eventClass !== 'tombstone') return violations;
  if (item_id === null) violations.push('no-item-id');
  if (entity_rev === null) violations.push('no-revision');
  if (!isState && payload !== null) violations.push('payload-forbidden');
  if (isState && payload === null) violations.push('no-payload');
  return violations;
}

function add<K>(counts: Map<K, number>, key: K, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function sumCounts(counts: ReadonlyMap<unknown, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

/** A record and its position. */
export interface AppliedRecord {
  readonly record: JournalRecord;
  readonly segment: string;
  /** The byte range of the line in the segment; `end` is the byte after its newline. */
  readonly start: number;
  readonly end: number;
}

/** Receives every line of a journal, in replay order, while it is read. An exception that it throws ends the reading. */
export interface JournalListener {
  /**
   * A replay begins with the first segment, so everything received before is void. It may begin again before any record is
   * applied, when the checkpoint it began from turns out to belong to another journal.
   * @param projection with the items of the checkpoint, and later as it is after each record
   */
  begin(projection: Projection): void;
  /** A record was applied. A record that was skipped because of its seq may be applied later, with the record after it. */
  applied(appliedRecord: AppliedRecord, effect: RecordEffect): void;
  /** A line is no record. */
  skipped(skippedLine: Omit<SkippedLine, 'adjudicated'>): void;
}
