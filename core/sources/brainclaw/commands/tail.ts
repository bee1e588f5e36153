import { displayJson, displayName } from '../../../format/index.ts';
import type { Clock } from '../../../ports/index.ts';
import type { CommandOutput } from '../../module.ts';
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
  type JournalReader,
  type Projection,
  type RecordEffect,
  type RefreshResult,
  type SegmentView,
  type SkippedLine,
} from '../index.ts';
import { type BrainclawArgs, parseWholeNumber } from './args.ts';
import {
  type BrainclawContext,
  complain,
  createProjectJournal,
  formatJournalOff,
  isUnreadable,
  NOT_KNOWN,
} from './brainclaw-context.ts';
import { type JournalChanges, openJournalChanges } from './journal-changes.node.ts';

const LINES = 10;
const READER_CHECK_MS = 2000;

/**
 * Prints records as the board applies them, and continues with new records until it is stopped or nobody reads. No position is
 * stored.
 */
export async function tail({ flags }: BrainclawArgs, context: BrainclawContext): Promise<number> {
  const since = parseWholeNumber(flags, 'since', 0);
  const from: TailStart =
    since === null
      ? { is: 'last', records: parseWholeNumber(flags, 'lines', 0) ?? LINES }
      : { is: 'since', seq: since };
  const collector = startCollecting(from);
  const journal = createProjectJournal(context, { listener: collector });
  if (flags.follow !== true) return await tailOnce(context, journal, collector);
  await tailFollowing(context, journal, collector, flags['stat-only'] === true);
  return 0;
}

async function tailOnce(context: BrainclawContext, journal: JournalReader, collector: TailCollector): Promise<number> {
  journal.refresh();
  if (journal.view === null) {
    complain(context, formatJournalOff(context.project));
    return NOT_KNOWN;
  }
  const { records, skips } = collector.take(null, false);
  if (skips > 0) complain(context, `skipped ${skips} lines that are not records: see hivebar brainclaw doctor`);
  const output = await context.host.openOutput();
  await output.write(formatRecords(context, records), { aborted: false });
  return 0;
}

async function tailFollowing(
  context: BrainclawContext,
  journal: JournalReader,
  collector: TailCollector,
  statOnly: boolean,
): Promise<void> {
  const stop = context.host.createStopSignal();
  const output = await context.host.openOutput();
  const readerGone = new AbortController();
  const over = AbortSignal.any([stop, readerGone.signal]);
  using _reader = watchReader(context.clock, output, () => readerGone.abort());
  using changes = openJournalChanges(context.project.store, context.clock, statOnly);
  reportWatching(context, changes);
  let isOff = false;
  let isFirst = true;
  let failure = '';
  while (!over.aborted) {
    const refreshed = refreshJournal(journal);
    if (typeof refreshed === 'string') {
      if (refreshed !== failure) complain(context, refreshed);
      failure = refreshed;
    } else {
      failure = '';
      if (refreshed.is === 'off' && !isOff) complain(context, `${formatJournalOff(context.project)}; waiting for it`);
      isOff = refreshed.is === 'off';
      const batch = takeBatch(journal, collector, refreshed);
      reportSkips(context, refreshed, batch, isFirst);
      if (batch.records.length > 0 && (await output.write(formatRecords(context, batch.records), over)) !== 'written')
        return;
      if (!isOff) isFirst = false;
    }
    await changes.next(over);
  }
}

/** Refreshes the journal. A text says, for a person, why it cannot be read; the next refresh continues where this one ended. */
function refreshJournal(journal: JournalReader): RefreshResult | string {
  try {
    return journal.refresh();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return error.explain();
  }
}

function takeBatch(journal: JournalReader, collector: TailCollector, refreshed: RefreshResult): TailBatch {
  const { view } = journal;
  const isOther = refreshed.is === 'replayed' && view?.continuity === 'other';
  return collector.take(view?.segments ?? null, isOther);
}

function reportWatching(context: BrainclawContext, changes: JournalChanges): void {
  if (!changes.isWatched) complain(context, 'this file system reports no changes: checking the journal every 10 s');
}

function reportSkips(
  context: BrainclawContext,
  refreshed: RefreshResult,
  { skips, skipped }: TailBatch,
  isFirst: boolean,
): void {
  if (refreshed.is === 'replayed' && !isFirst) {
    complain(context, `the journal was read from its start again (${refreshed.why}): ${refreshed.records} records`);
  }
  if (isFirst && skips > 0) {
    complain(context, `skipped ${skips} lines that are not records: see hivebar brainclaw doctor`);
  } else if (refreshed.is === 'grown') {
    for (const { segment, byte, why } of skipped) complain(context, `skipped a line of ${segment} at ${byte}: ${why}`);
    if (skips > skipped.length) complain(context, `and ${skips - skipped.length} more`);
  }
}

function formatRecords({ asJson }: BrainclawContext, records: readonly TailRecord[]): string {
  return records.map((record) => `${asJson ? displayJson(JSON.stringify(record)) : formatRecord(record)}\n`).join('');
}

function formatRecord({
  seq,
  ts,
  agent,
  action,
  item_type,
  item_id,
  status,
  effect,
  attention,
  summary,
}: TailRecord): string {
  const item = item_id === null ? item_type : `${item_type}:${item_id}`;
  const { before, after, why } = attention;
  const now = effect === 'removed' ? 'removed' : (status ?? '');
  const asks = before === after ? '' : `attention ${before} -> ${after}${why === null ? '' : ` (${why})`}`;
  return [`${seq}`, ts ?? '-', agent, action, item, now, summary ?? '', asks]
    .filter((word) => word !== '')
    .map(displayName)
    .join('  ');
}

/** Watches the reader of stdout even while there is nothing to write. */
function watchReader(clock: Clock, { isReaderGone }: CommandOutput, onGone: () => void): Disposable {
  let timer: Disposable;
  const next = (): void => {
    timer = clock.after(READER_CHECK_MS, () => (isReaderGone() ? onGone() : next()));
  };
  next();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

/** A record, and its effect on the board. */
interface TailRecord {
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
type TailStart = { readonly is: 'last'; readonly records: number } | { readonly is: 'since'; readonly seq: number };

interface TailBatch {
  readonly records: readonly TailRecord[];
  /** How many lines are no records; `skipped` has the first of them. */
  readonly skips: number;
  readonly skipped: readonly Skip[];
}

/** Collects the records of a journal until they are taken. */
interface TailCollector extends JournalListener {
  /**
   * Returns what was collected since the last call. The first call, and a call after the journal was replaced, returns the
   * records that `from` selects. Other calls return the records behind the last positions, each once, even if the journal was
   * read from its start again.
   * @param positions where the next call continues; null: there is no journal
   */
  take(positions: SegmentPositions | null, isOther: boolean): TailBatch;
}

const MOST_SKIPPED = 20;

function startCollecting(from: TailStart): TailCollector {
  let projection: Projection | null = null;
  let asking = new Map<string, AttentionReason>();
  let highest = 0;
  let storePositions: ReadonlyMap<string, number> | null = null;
  let chosen: TailRecord[] = [];
  let behind: TailRecord[] = [];
  let skipped: Skip[] = [];
  let skips = 0;

  const forget = (): void => {
    [chosen, behind, skipped, skips] = [[], [], [], 0];
  };
  const collect = (record: TailRecord): void => {
    if (storePositions !== null && record.byte >= (storePositions.get(record.segment) ?? 0)) behind.push(record);
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
      const batch: TailBatch = { records: storePositions === null || isOther ? chosen : behind, skips, skipped };
      forget();
      if (positions !== null) storePositions = new Map(positions.map(({ name, offset }) => [name, offset]));
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
