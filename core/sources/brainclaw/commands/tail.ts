import { displayJson, displayName } from '../../../format/index.ts';
import type { Clock } from '../../../ports/index.ts';
import type { CommandOutput } from '../../module.ts';
import type { JournalReader, RefreshResult } from '../index.ts';
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
import { startCollecting, type TailBatch, type TailCollector, type TailRecord, type TailStart } from './tail-record.ts';

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
  if (skips > 0) complain(context, `left out ${skips} lines that are no records: hivebar brainclaw doctor names them`);
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
      if (refreshed.is === 'off' && !isOff) complain(context, `${formatJournalOff(context.project)}; it is waited for`);
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
  if (!changes.isWatched) complain(context, 'nothing tells of changes here: the journal is looked at every 10 s');
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
    complain(context, `left out ${skips} lines that are no records: hivebar brainclaw doctor names them`);
  } else if (refreshed.is === 'grown') {
    for (const { segment, byte, why } of skipped) complain(context, `left out a line of ${segment} at ${byte}: ${why}`);
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
