import type { Clock } from '../../../core/ports/index.ts';
import type { Journal, Refresh } from '../../../core/sources/brainclaw/index.ts';
import { readerIsGone } from '../../follow/index.ts';
import { printable, printableJson } from '../../printable.ts';
import { lineOutput } from '../line-output.node.ts';
import { stopSignal } from '../stop-signal.node.ts';
import { type BrainclawArgs, wholeOf } from './args.ts';
import { complain, type Ground, isUnreadable, journalOf, journalOff, NOT_KNOWN } from './ground.ts';
import { type JournalChanges, journalChanges } from './journal-changes.node.ts';
import { type From, startTelling, type Telling, type Told, type ToldRecord } from './told-record.ts';

const LINES = 10;
const STDOUT = 1;
const LOOK_FOR_READER_MS = 2000;

/**
 * Prints records as the board applies them, and goes on with those that come until it is stopped, or nobody reads. Nothing of
 * how far it came is kept.
 */
export async function tail({ flags }: BrainclawArgs, ground: Ground): Promise<number> {
  const since = wholeOf(flags, 'since', 0);
  const from: From =
    since === null ? { is: 'last', records: wholeOf(flags, 'lines', 0) ?? LINES } : { is: 'since', seq: since };
  const telling = startTelling(from);
  const journal = journalOf(ground, { listener: telling });
  if (flags.follow !== true) return await once(ground, journal, telling);
  await following(ground, journal, telling, flags['stat-only'] === true);
  return 0;
}

async function once(ground: Ground, journal: Journal, telling: Telling): Promise<number> {
  journal.refresh();
  if (journal.view === null) {
    complain(ground, journalOff(ground.project));
    return NOT_KNOWN;
  }
  const { records, skips } = telling.take(null, false);
  if (skips > 0) complain(ground, `left out ${skips} lines that are no records: hivebar brainclaw doctor names them`);
  await lineOutput().write(textOf(ground, records), { aborted: false });
  return 0;
}

async function following(ground: Ground, journal: Journal, telling: Telling, statOnly: boolean): Promise<void> {
  const stop = stopSignal();
  const gone = new AbortController();
  const over = AbortSignal.any([stop, gone.signal]);
  using _reader = watchReader(ground.clock, () => gone.abort());
  using changes = journalChanges(ground.project.store, ground.clock, statOnly);
  sayHow(ground, changes);
  const output = lineOutput();
  let isOff = false;
  let isFirst = true;
  let failure = '';
  while (!over.aborted) {
    const seen = readOn(journal);
    if (typeof seen === 'string') {
      if (seen !== failure) complain(ground, seen);
      failure = seen;
    } else {
      failure = '';
      if (seen.is === 'off' && !isOff) complain(ground, `${journalOff(ground.project)}; it is waited for`);
      isOff = seen.is === 'off';
      const told = toldBy(journal, telling, seen);
      sayWhat(ground, seen, told, isFirst);
      if (told.records.length > 0 && (await output.write(textOf(ground, told.records), over)) !== 'written') return;
      if (!isOff) isFirst = false;
    }
    await changes.next(over);
  }
}

/** What kept it from being read, for a person: the next look goes on where this one ended. */
function readOn(journal: Journal): Refresh | string {
  try {
    return journal.refresh();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return error.explain();
  }
}

function toldBy(journal: Journal, telling: Telling, seen: Refresh): Told {
  const { view } = journal;
  const isOther = seen.is === 'replayed' && view?.continuity === 'other';
  return telling.take(view?.segments ?? null, isOther);
}

function sayHow(ground: Ground, changes: JournalChanges): void {
  if (!changes.isWatched) complain(ground, 'nothing tells of changes here: the journal is looked at every 10 s');
}

function sayWhat(ground: Ground, seen: Refresh, { skips, skipped }: Told, isFirst: boolean): void {
  if (seen.is === 'replayed' && !isFirst) {
    complain(ground, `the journal was read from its start again (${seen.why}): ${seen.records} records`);
  }
  if (isFirst && skips > 0) {
    complain(ground, `left out ${skips} lines that are no records: hivebar brainclaw doctor names them`);
  } else if (seen.is === 'grown') {
    for (const { segment, byte, why } of skipped) complain(ground, `left out a line of ${segment} at ${byte}: ${why}`);
    if (skips > skipped.length) complain(ground, `and ${skips - skipped.length} more`);
  }
}

function textOf({ asJson }: Ground, records: readonly ToldRecord[]): string {
  return records.map((one) => `${asJson ? printableJson(JSON.stringify(one)) : lineOf(one)}\n`).join('');
}

function lineOf({
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
}: ToldRecord): string {
  const item = item_id === null ? item_type : `${item_type}:${item_id}`;
  const { before, after, why } = attention;
  const now = effect === 'removed' ? 'removed' : (status ?? '');
  const asks = before === after ? '' : `attention ${before} -> ${after}${why === null ? '' : ` (${why})`}`;
  return [`${seq}`, ts ?? '-', agent, action, item, now, summary ?? '', asks]
    .filter((word) => word !== '')
    .map(printable)
    .join('  ');
}

/** Also while there is nothing to write. */
function watchReader(clock: Clock, gone: () => void): Disposable {
  let timer: Disposable;
  const next = (): void => {
    timer = clock.after(LOOK_FOR_READER_MS, () => (readerIsGone(STDOUT) ? gone() : next()));
  };
  next();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
