import type { SkippedLine } from './ledger.ts';
import type { Projection, RecordEffect } from './projection.ts';
import type { JournalRecord } from './record.ts';

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
