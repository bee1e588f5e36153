import type { Fact } from '../board/index.ts';
import type { Clock } from '../ports/index.ts';
import type { PendingCounts, Source, UnreadCounts } from '../sources/index.ts';
import { type AdoptOptions, createAdoption } from './adoption.ts';
import { getUnreadCount, hasChanges, isSameCounts, NOTHING_UNREAD } from './level.ts';
import type { PendingListAnswer } from './pending-list.ts';
import { type CountsChange, findPollReason } from './poll-reason.ts';
import { createPollSlots } from './poll-slots.ts';
import type { PollOutcome, Watcher } from './watcher.ts';

export interface InboxPollerOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly put: (fact: Fact) => void;
  readonly intervalMs: number;
  /** A full look at least after this many skipped ticks. */
  readonly resyncEvery: number;
  /** Looks in flight at once. */
  readonly pollsAtOnce: number;
  /** Adopts personas that appear while running; null: the set given at the start is fixed. */
  readonly adopt: AdoptOptions | null;
  /**
   * Told what the pending list said on a tick, null for no answer, as soon as the looks that were under way are done; one
   * at a time, in order. It rejects never.
   */
  readonly onPendingList?: (levels: PendingCounts | null, abort: AbortSignal) => Promise<void>;
  /** Told of every look; throwing a Fault from here ends the rounds with it (a fatal start-up fault). */
  readonly onPolled: (watcher: Watcher, outcome: PollOutcome) => void;
  /** Told of a watch that is over, since its persona is not in the source any more. */
  readonly onLeft?: (watcher: Watcher) => void;
}

/** What the looks of one run are subject to. */
export interface PollerRun {
  /** The end. */
  readonly abort: AbortSignal;
  /** Cuts what asks the source: with the next gap, and at the end. */
  cut(): AbortSignal;
  /** An inbox begins to fail. */
  failing(): void;
  /** Ends the run with this error. */
  end(error: unknown): void;
}

/** What a poke asked of the next tick: nothing, an ordinary tick, or a look at every inbox. */
export type PollRequest = 'no' | 'tick' | 'all';

/** The inboxes of one source while the rounds run: which are looked at on a tick, and how each look goes on. */
export interface InboxPoller extends AsyncDisposable {
  /** Looks where a count changed at once, and sees to everything else when those looks are back, or take long. */
  tick(answer: PendingListAnswer | null, request: PollRequest): Promise<void>;
  /** Looks at one inbox now. */
  wake(address: string): void;
  /** Watches what appears in the directory of the source, until the end. Absent where the set is fixed. */
  readonly rescan?: () => Promise<void>;
  /** Whether any inbox fails. */
  readonly isFailing: boolean;
}

interface InboxEntry {
  readonly watcher: Watcher;
  /** What the pending list said last; null when it said nothing. */
  level: UnreadCounts | null;
  skipped: number;
  healthy: boolean;
  /** When the last look began, monotonic. */
  polledAt: number;
  /** The look in flight. */
  busy: boolean;
  /** Something happened during the look in flight: look once more. */
  again: boolean;
  /** Since its last look something happened in the source that the counts of others explain, but need not explain alone. */
  stale: boolean;
  /** Offers held events again. */
  retry: Disposable | null;
}

/** How long everything else waits for the looks that were begun because a count changed. */
const POLLS_FIRST_MS = 5;
/** So long at most a change stays unseen that leaves every count as it was: one message read, another one come. */
export const HIDDEN_AT_MOST_MS = 60_000;

export function createInboxPoller(
  options: InboxPollerOptions,
  watchers: readonly Watcher[],
  course: PollerRun,
): InboxPoller {
  const { source, clock, put, intervalMs, resyncEvery, onPendingList } = options;
  const { abort } = course;
  const entries = new Map<string, InboxEntry>();
  const slots = createPollSlots(options.pollsAtOnce);
  const adoption = options.adopt === null ? null : createAdoption(source, clock, options.adopt);
  const background = new Set<Promise<void>>();
  /** The counts of the answer before; null before the first. */
  let before: PendingCounts['byAddress'] | null = null;
  /** Looks at every inbox that is stale by then. */
  let sweep: Disposable | null = null;
  let isNotifying = false;
  let notifying: Promise<void> = Promise.resolve();
  for (const watcher of watchers) enter(watcher, null);

  function enter(watcher: Watcher, level: UnreadCounts | null): InboxEntry {
    const fresh = { skipped: 0, healthy: true, polledAt: 0, busy: false, again: false, stale: false, retry: null };
    const entry: InboxEntry = { watcher, level, ...fresh };
    entries.set(watcher.persona.address, entry);
    return entry;
  }

  /** `level`: as the pending list has it, where that is what told of it. */
  function adopt(address: string, level: UnreadCounts | null = null): void {
    if (adoption === null || entries.has(address)) return;
    track(
      adoption.open(address, (watcher) => {
        const entry = enter(watcher, level);
        if (!abort.aborted) track(poll(entry));
      }),
    );
  }

  function track(work: Promise<void>): void {
    const done = (): void => void background.delete(guarded);
    const guarded = work.then(done, (error: unknown) => {
      done();
      course.end(error);
    });
    background.add(guarded);
  }

  async function poll(entry: InboxEntry): Promise<void> {
    if (entry.busy) {
      entry.again = true;
      return;
    }
    entry.busy = true;
    try {
      do {
        entry.again = false;
        entry.skipped = 0;
        entry.stale = false;
        entry.polledAt = clock.monotonic();
        entry.retry?.[Symbol.dispose]();
        const slow = !entry.healthy;
        const getLevel = (): UnreadCounts | null => entry.level;
        const outcome = await entry.watcher.poll((run) => slots.run(slow, run), course.cut(), abort, getLevel);
        if (outcome.is === 'stopped') continue; // the end, or a gap, after which every inbox is looked at
        entry.healthy = outcome.is === 'healthy';
        if (!entry.healthy) course.failing();
        options.onPolled(entry.watcher, outcome);
        if (isOver(entry)) return leave(entry);
        retryLater(entry);
      } while (entry.again && !abort.aborted);
    } finally {
      entry.busy = false;
    }
  }

  /** Gone from the source, and nothing is left to be told of it. */
  function isOver({ watcher, healthy, again }: InboxEntry): boolean {
    if (source.isGone?.(watcher.persona) !== true || again) return false;
    return !healthy || (watcher.retryAt === null && !watcher.isDelivering);
  }

  function leave({ watcher, retry }: InboxEntry): void {
    retry?.[Symbol.dispose]();
    entries.delete(watcher.persona.address);
    put({ is: 'left', at: clock.now(), persona: watcher.persona.id });
    options.onLeft?.(watcher);
    track(Promise.resolve(watcher[Symbol.asyncDispose]()));
  }

  /** Held events are offered again, and what is missing is asked for again, on schedules of their own (D2). */
  function retryLater(entry: InboxEntry): void {
    entry.retry?.[Symbol.dispose]();
    const at = entry.watcher.retryAt ?? entry.watcher.walkAt;
    entry.retry =
      at === null || abort.aborted ? null : clock.after(Math.max(0, at - clock.now()), () => track(poll(entry)));
  }

  /**
   * What an answer says of one inbox, and remembers it. `isDoubtful`: it hides something that no count explains.
   */
  function compareLevel(entry: InboxEntry, level: UnreadCounts | null, isDoubtful: boolean): CountsChange {
    const known = entry.level;
    entry.level = level;
    if (level === null || getUnreadCount(level) === null) return 'unknown';
    if (known === null || !isSameCounts(known, level)) return 'changed';
    return isDoubtful ? 'doubtful' : 'same';
  }

  /** True when a look begins now, which will say more than a count. */
  function consider(entry: InboxEntry, counts: CountsChange, request: PollRequest, hidesChanges: boolean): boolean {
    const { watcher } = entry;
    // A look that still hangs is not doubled by the interval, only by a poke: what it asked for may be later news.
    if (entry.busy && request === 'no') {
      // What changed meanwhile may have come after its answer, and a held list does not say it twice.
      if (counts === 'changed' || counts === 'doubtful') entry.again = true;
      return false;
    }
    const armed = watcher.state.arming === 'armed';
    const age = clock.monotonic() - entry.polledAt;
    const recent = request === 'no' && age < intervalMs / 2;
    // Where equal counts may hide a change, one tick later would be too late.
    const overdue = entry.skipped >= resyncEvery || (hidesChanges && !recent && age + intervalMs > HIDDEN_AT_MOST_MS);
    const pace = { armed, healthy: entry.healthy, recent, retryAt: watcher.retryAt, overdue };
    if (findPollReason(pace, counts, clock.now(), request === 'all') !== null) {
      track(poll(entry));
      return true;
    }
    entry.skipped += 1;
    const beat = entry.busy ? null : watcher.beat(abort);
    if (beat !== null) track(beat.then(() => retryLater(entry)));
    return false;
  }

  /** The counts of some explain why the list moved; what they do not explain is found out within a minute. */
  function sweepLater(): void {
    sweep ??= clock.after(HIDDEN_AT_MOST_MS, () => {
      sweep = null;
      if (abort.aborted) return;
      for (const entry of entries.values()) if (entry.stale && entry.healthy && !entry.busy) track(poll(entry));
    });
  }

  return {
    /** The answers of the looks where a count changed are what somebody waits for. Not for long, since a look may hang. */
    async tick(answer, request) {
      const levels = answer?.levels ?? null;
      const isExplained = levels === null || before === null || hasChanges(before, levels.byAddress);
      const canHide = source.pending?.hidesChanges === true;
      const isDoubtful = canHide && (answer?.since === 'broken' || (answer?.since === 'moved' && !isExplained));
      const isMoved = canHide && answer?.since === 'moved' && isExplained;
      before = levels?.byAddress ?? null;
      const considered = new Set<InboxEntry>();
      const counted: Fact[] = [];
      const considerEntry = (entry: InboxEntry, counts: CountsChange): void => {
        considered.add(entry);
        if (consider(entry, counts, request, canHide && levels !== null && levels.cursor === null)) return;
        if (isMoved && !entry.busy) entry.stale = true;
        if (levels === null || entry.level === null) return;
        counted.push({ is: 'counted', at: levels.at, persona: entry.watcher.persona.id, ...entry.level });
      };
      const remaining = new Map<InboxEntry, CountsChange>();
      for (const [address, entry] of entries) {
        const level = levels === null ? null : (levels.byAddress.get(address) ?? NOTHING_UNREAD);
        const isNews = entry.level !== null || (level !== null && getUnreadCount(level) !== 0);
        const counts = compareLevel(entry, level, isDoubtful);
        if (counts === 'changed' && isNews) considerEntry(entry, counts);
        else remaining.set(entry, counts);
      }
      if (considered.size > 0) await Promise.race([...background, clock.sleep(POLLS_FIRST_MS, abort)]);
      if (abort.aborted) return;
      for (const entry of entries.values())
        if (!considered.has(entry)) considerEntry(entry, remaining.get(entry) ?? 'same');
      if (isMoved) sweepLater();
      for (const [address, level] of levels?.byAddress ?? []) adopt(address, level);
      for (const fact of counted) put(fact);
      if (onPendingList === undefined || isNotifying) return; // what is slow to hear misses a tick: it is no queue
      isNotifying = true;
      notifying = Promise.allSettled([...background])
        .then(() => (abort.aborted ? undefined : onPendingList(levels, abort)))
        .finally(() => {
          isNotifying = false;
        });
    },
    wake(address) {
      const entry = entries.get(address);
      if (entry === undefined) adopt(address);
      else track(poll(entry));
    },
    ...(adoption === null ? {} : { rescan: () => adoption.rescan((address) => adopt(address), course.cut, abort) }),
    get isFailing() {
      for (const { healthy } of entries.values()) if (!healthy) return true;
      return false;
    },
    async [Symbol.asyncDispose]() {
      sweep?.[Symbol.dispose]();
      for (const entry of entries.values()) entry.retry?.[Symbol.dispose]();
      while (background.size > 0) await Promise.allSettled([...background]);
      await notifying;
      await Promise.all([...entries.values()].map((entry) => entry.watcher[Symbol.asyncDispose]()));
    },
  };
}
