import type { SkippedLine } from './ledger.ts';
import type { Projection, RecordEffect } from './projection.ts';
import type { JournalRecord } from './record.ts';

/** A record and where it lies. */
export interface AppliedRecord {
  readonly record: JournalRecord;
  readonly segment: string;
  /** Bytes of the line in the segment; `end` is the one after its newline. */
  readonly start: number;
  readonly end: number;
}

/** Hears of every line of a journal, in replay order, while it is read. What it throws ends the reading. */
export interface JournalListener {
  /**
   * A replay begins with the first segment there is: all that was heard so far is void. It may begin again before any
   * record is applied, when the checkpoint it began from turns out to be of another journal.
   * @param projection with the items of the checkpoint, and then as it is after each record
   */
  begin(projection: Projection): void;
  /** A record was applied. One that was skipped for its seq may be applied after all, with the record after it. */
  applied(appliedRecord: AppliedRecord, effect: RecordEffect): void;
  /** A line is no record. */
  skipped(skippedLine: Omit<SkippedLine, 'adjudicated'>): void;
}
