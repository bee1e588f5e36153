import {
  type AppliedRecord,
  type AttentionReason,
  type BoardSection,
  findAttentionItems,
  findAttentionReason,
  findEventClass,
  findSections,
  getStatus,
  type JournalListener,
  type Projection,
  type RecordEffect,
  type SegmentView,
  type SkippedLine,
} from '../index.ts';

/** A record, and its effect on the board. */
export interface TailRecord {
  readonly seq: number;
  readonly segment: string;
  /** Offset of its first byte; `end` is the offset after its newline. */
  readonly byte: number;
  readonly end: number;
  readonly ts: string | null;
  readonly writer: string | null;
  readonly agent: string;
  readonly action: string;
  readonly class: ReturnType<typeof findEventClass>;
  readonly item_type: string;
  readonly item_id: string | null;
  readonly entity_rev: number | null;
  readonly summary: string | null;
  readonly effect: 'put' | 'removed' | 'activity' | 'nothing';
  /** Status of the item now; null: the item does not exist, or the record is about no item. */
  readonly status: string | null;
  readonly sections: readonly BoardSection[];
  readonly attention: { readonly before: number; readonly after: number; readonly why: AttentionReason | null };
  /** The highest seq so far. */
  readonly cursor: number;
}

/** How far each segment was read. */
type SegmentPositions = readonly Pick<SegmentView, 'name' | 'offset'>[];
type Skip = Omit<SkippedLine, 'adjudicated'>;

/** Which of the earlier records are printed. */
export type TailStart =
  | { readonly is: 'last'; readonly records: number }
  | { readonly is: 'since'; readonly seq: number };

export interface TailBatch {
  readonly records: readonly TailRecord[];
  /** How many lines are no records; `skipped` has the first of them. */
  readonly skips: number;
  readonly skipped: readonly Skip[];
}

/** Collects the records of a journal until they are taken. */
export interface TailCollector extends JournalListener {
  /**
   * Returns what was collected since the last call. The first call, and a call after the journal was replaced, returns the
   * records that `from` selects. Other calls return the records behind the last positions, each once, even if the journal was
   * read from its start again.
   * @param positions where the next call continues; null: there is no journal
   */
  take(positions: SegmentPositions | null, isOther: boolean): TailBatch;
}

const MOST_SKIPPED = 20;

export function startCollecting(from: TailStart): TailCollector {
  let projection: Projection | null = null;
  let asking = new Map<string, AttentionReason>();
  let highest = 0;
  let takenPositions: ReadonlyMap<string, number> | null = null;
  let chosen: TailRecord[] = [];
  let behind: TailRecord[] = [];
  let skipped: Skip[] = [];
  let skips = 0;

  const forget = (): void => {
    [chosen, behind, skipped, skips] = [[], [], [], 0];
  };
  const collect = (record: TailRecord): void => {
    if (takenPositions !== null && record.byte >= (takenPositions.get(record.segment) ?? 0)) behind.push(record);
    if (from.is === 'since' && record.seq <= from.seq) return;
    chosen.push(record);
    if (from.is === 'last' && chosen.length > from.records) chosen.shift();
  };

  return {
    begin: (next) => {
      forget();
      projection = next;
      asking = new Map(findAttentionItems(next).map(({ why, entity }) => [formatKey(entity), why]));
      highest = 0;
    },
    applied: (appliedRecord, effect) => {
      const before = asking.size;
      highest = Math.max(highest, appliedRecord.record.seq);
      const { why, status } = findState(appliedRecord, projection);
      if (effect.is === 'changed') {
        if (why === null) asking.delete(formatKey(appliedRecord.record));
        else asking.set(formatKey(appliedRecord.record), why);
      }
      collect({
        ...toRecordWire(appliedRecord, effect),
        status,
        attention: { before, after: asking.size, why },
        cursor: highest,
      });
    },
    skipped: (skip) => {
      skips += 1;
      if (skipped.length < MOST_SKIPPED) skipped.push(skip);
    },
    take: (positions, isOther) => {
      const batch: TailBatch = { records: takenPositions === null || isOther ? chosen : behind, skips, skipped };
      forget();
      if (positions !== null) takenPositions = new Map(positions.map(({ name, offset }) => [name, offset]));
      return batch;
    },
  };
}

const formatKey = ({ item_type, item_id }: Pick<AppliedRecord['record'], 'item_type' | 'item_id'>): string =>
  `${item_type}:${item_id}`;

function findState(
  { record }: AppliedRecord,
  projection: Projection | null,
): Pick<TailRecord, 'status'> & { why: AttentionReason | null } {
  const entity = record.item_id === null ? undefined : projection?.getByType(record.item_type).get(record.item_id);
  return entity === undefined
    ? { why: null, status: null }
    : { why: findAttentionReason(entity), status: getStatus(entity) };
}

function toRecordWire(
  { record, segment, start, end }: AppliedRecord,
  effect: RecordEffect,
): Omit<TailRecord, 'status' | 'attention' | 'cursor'> {
  const { seq, ts, writer, agent, action, item_type, item_id, entity_rev, summary } = record;
  const eventClass = findEventClass(action);
  const isGone = eventClass === 'tombstone';
  return {
    ...{ seq, segment, byte: start, end, ts, writer, agent, action, class: eventClass, item_type, item_id, entity_rev },
    ...{ summary, effect: effect.is === 'changed' ? (isGone ? 'removed' : 'put') : effect.is },
    sections: effect.is === 'changed' ? findSections(item_type) : effect.is === 'activity' ? ['activity'] : [],
  };
}
