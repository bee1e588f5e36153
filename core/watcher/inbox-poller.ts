import type { Fact } from '../board/index.ts';
import type { Instant, PersonaCounts } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { PendingCounts, Source, UnreadCounts } from '../sources/index.ts';
import { type AdoptOptions, createAdoption } from './initial-state.ts';
import { getUnreadCount, hasChanges, isSameCounts, NOTHING_UNREAD, type PendingListAnswer } from './pending-list.ts';
import { type CountsChange, findPollReason, type PollOutcome, type Watcher } from './watcher.ts';

export interface InboxPollerOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly put: (fact: Fact) => void;
  readonly intervalMs: number;
  /** An inbox is polled at the latest after this many skipped ticks. */
  readonly resyncEvery: number;
  /** The maximum number of concurrent polls. */
  readonly pollsAtOnce: number;
  /** How to adopt personas that appear while running. Null: the set of personas given at the start is fixed. */
  readonly adopt: AdoptOptions | null;
  /**
   * Called with the counts of each tick's pending list, or null for no answer, once the polls under way are done. Calls
   * do not overlap and keep their order. The promise never rejects.
   */
  readonly onPendingList?: (levels: PendingCounts | null, abort: AbortSignal) => Promise<void>;
  /** Called after every poll. A Fault thrown here ends the scheduler with that fault (a fatal start-up fault). */
  readonly onPolled: (watcher: Watcher, outcome: PollOutcome) => void;
  /** Called when a watcher has ended because the source no longer has its persona. */
  readonly onLeft?: (watcher: Watcher) => void;
}

/** The signals and callbacks that all polls of one run share. */
interface PollerRun {
  /** Aborts when the run ends. */
  readonly abort: AbortSignal;
  /** Returns the signal that cancels requests to the source. It aborts at the next interruption and at the end. */
  cut(): AbortSignal;
  /** Called when an inbox starts to fail. */
  failing(): void;
  /** Ends the run with this error. */
  end(error: unknown): void;
}

/** What a poke asks of the next tick: nothing, an ordinary tick, or a poll of every inbox. */
export type PollRequest = 'no' | 'tick' | 'all';

/**
 * Holds the inboxes of one source while the scheduler runs. It decides which inboxes a tick polls, and follows up each
 * poll.
 */
export interface InboxPoller extends AsyncDisposable {
  /** Polls the inboxes whose count changed at once. Handles all others when those polls are back, or take long. */
  tick(answer: PendingListAnswer | null, request: PollRequest): Promise<void>;
  /** Polls one inbox now. */
  wake(address: string): void;
  /** Watches for personas that appear in the directory of the source, until the end. Absent where the set is fixed. */
  readonly rescan?: () => Promise<void>;
  /** Whether any inbox is failing. */
  readonly isFailing: boolean;
}

interface InboxEntry {
  readonly watcher: Watcher;
  /** The counts that the pending list gave last; null when it gave none. */
  level: UnreadCounts | null;
  /** `level` as the board gets it. It is made anew only when the counts change; null: they did since. */
  counts: PersonaCounts | null;
  /** What the answer of the current tick says; `same` once the tick has considered the inbox. */
  change: CountsChange;
  /** The number of the newest tick when the last poll began or ended. */
  polledTick: number;
  healthy: boolean;
  /** When the last poll began, on the monotonic clock. */
  polledAt: number;
  /** A poll is in flight. */
  busy: boolean;
  /** Something happened during the poll in flight, so the inbox is polled once more. */
  again: boolean;
  /**
   * Since the last poll something happened in the source. The changed counts of other inboxes may explain it, or only a
   * part of it.
   */
  stale: boolean;
  /** The timer that polls this inbox again, for undelivered events or missing messages. */
  retry: Disposable | null;
}

/** What is the same for every inbox that a tick considers. */
interface TickMoment {
  readonly now: Instant;
  readonly monotonic: number;
  /** Only the list reports changes, and equal counts may hide one. */
  readonly hidesChanges: boolean;
}

/** Ticks that need not consider any inbox, as long as the list repeats itself and no poll begins. */
interface QuietTicks {
  /** The counts that such a tick reports. */
  readonly counted: readonly PersonaCounts[];
  /** On the monotonic clock. */
  readonly until: number;
  /** The first tick that polls an inbox because it was skipped so often. */
  readonly endTick: number;
}

/** How long all other inboxes wait for the polls that began because a count changed. */
const POLLS_FIRST_MS = 5;
/**
 * A change that leaves every count equal, such as one message read and another arrived, stays unseen for at most this
 * long.
 */
const HIDDEN_AT_MOST_MS = 60_000;
/**
 * While the pending list repeats itself, the inboxes are considered this often. Considering a thousand of them costs as much as
 * the request, because none of them is in the cache of the processor any more.
 */
const QUIET_AT_MOST_MS = 5000;

export function createInboxPoller(
  options: InboxPollerOptions,
  watchers: readonly Watcher[],
  course: PollerRun,
): InboxPoller {
  const { source, clock, put, intervalMs, resyncEvery, onPendingList } = options;
  const { abort } = course;
  const entries = new Map<string, InboxEntry>();
  const slots = createPollSlots(options.pollsAtOnce);
  const runQuick = <T>(work: () => T | Promise<T>): T | Promise<T> => slots.run(false, work);
  const runSlow = <T>(work: () => T | Promise<T>): T | Promise<T> => slots.run(true, work);
  const adoption = options.adopt === null ? null : createAdoption(source, clock, options.adopt);
  const background = new Set<Promise<void>>();
  /** The counts of the previous answer; null before the first answer. */
  let before: PendingCounts['byAddress'] | null = null;
  /** The timer that polls every inbox that is stale when it fires. */
  let sweep: Disposable | null = null;
  let tickNumber = 0;
  /** What the last tick found when no inbox had a reason for a poll; null: it must consider each of them again. */
  let quiet: QuietTicks | null = null;
  let isNotifying = false;
  let notifying: Promise<void> = Promise.resolve();
  for (const watcher of watchers) enter(watcher, null);

  function enter(watcher: Watcher, level: UnreadCounts | null): InboxEntry {
    const entry: InboxEntry = {
      watcher,
      level,
      counts: null,
      change: 'same',
      polledTick: tickNumber,
      healthy: true,
      polledAt: 0,
      busy: false,
      again: false,
      stale: false,
      retry: null,
    };
    entries.set(watcher.persona.address, entry);
    return entry;
  }

  /** `level`: the counts of the pending list, if the pending list named this address. */
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
    quiet = null;
    try {
      do {
        entry.again = false;
        entry.polledTick = tickNumber;
        entry.stale = false;
        entry.polledAt = clock.monotonic();
        entry.retry?.[Symbol.dispose]();
        const outcome = await entry.watcher.poll(entry.healthy ? runQuick : runSlow, course.cut(), abort, entry);
        if (outcome.is === 'stopped') continue; // the end, or an interruption, after which every inbox is polled
        entry.healthy = outcome.is === 'healthy';
        if (!entry.healthy) course.failing();
        options.onPolled(entry.watcher, outcome);
        // An alarm or a report of its agent may be on its way, and no later poll comes for who is gone.
        if (source.isGone?.(entry.watcher.persona) === true) await entry.watcher.waitForAll();
        if (isOver(entry)) return leave(entry);
        retryLater(entry);
      } while (entry.again && !abort.aborted);
    } finally {
      entry.busy = false;
      entry.polledTick = tickNumber;
    }
  }

  /** The persona is gone from the source and nothing about it is left to deliver. */
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

  /** Undelivered events and missing messages are retried on a schedule of their own (D2). */
  function retryLater(entry: InboxEntry): void {
    entry.retry?.[Symbol.dispose]();
    const at = entry.watcher.retryAt ?? entry.watcher.walkAt;
    entry.retry =
      at === null || abort.aborted ? null : clock.after(Math.max(0, at - clock.now()), () => track(poll(entry)));
  }

  /**
   * Compares the counts of an answer with the previous counts, and stores them. `isDoubtful`: the answer hides a change
   * that no count explains.
   */
  function compareLevel(entry: InboxEntry, level: UnreadCounts | null, isDoubtful: boolean): CountsChange {
    const known = entry.level;
    if (known !== level) entry.counts = null;
    entry.level = level;
    if (level === null || getUnreadCount(level) === null) return 'unknown';
    if (known === null || !isSameCounts(known, level)) return 'changed';
    return isDoubtful ? 'doubtful' : 'same';
  }

  /** `begins`: a poll begins now, and its result will say more than a count. `quiet`: nothing about the inbox waits for anything. */
  function consider(
    entry: InboxEntry,
    counts: CountsChange,
    request: PollRequest,
    moment: TickMoment,
  ): 'begins' | 'waits' | 'quiet' {
    const { watcher } = entry;
    // The interval does not start a second poll while one hangs. A poke does, because it may speak of something later.
    if (entry.busy && request === 'no') {
      // The change may have come after the answer of the poll in flight, and a held list does not report it twice.
      if (counts === 'changed' || counts === 'doubtful') entry.again = true;
      return 'waits';
    }
    const armed = watcher.state.arming === 'armed';
    const age = moment.monotonic - entry.polledAt;
    const recent = request === 'no' && age < intervalMs / 2;
    // Where equal counts may hide a change, waiting for one more tick would exceed the limit.
    const overdue =
      tickNumber - entry.polledTick > resyncEvery ||
      (moment.hidesChanges && !recent && age + intervalMs > HIDDEN_AT_MOST_MS);
    const { healthy } = entry;
    const { retryAt } = watcher;
    // Nearly every inbox of a tick is like this, and has no reason for a poll.
    const isQuiet = counts === 'same' && request !== 'all' && armed && healthy && retryAt === null && !overdue;
    const pace = isQuiet ? null : { armed, healthy, recent, retryAt, overdue };
    if (pace !== null && findPollReason(pace, counts, moment.now, request === 'all') !== null) {
      track(poll(entry));
      return 'begins';
    }
    const beat = entry.busy ? null : watcher.beat(abort);
    if (beat !== null) track(beat.then(() => retryLater(entry)));
    return isQuiet && beat === null ? 'quiet' : 'waits';
  }

  /**
   * Some changed counts explain why the cursor of the list moved. A later sweep finds, within a minute, what they do
   * not explain.
   */
  function sweepLater(): void {
    sweep ??= clock.after(HIDDEN_AT_MOST_MS, () => {
      sweep = null;
      if (abort.aborted) return;
      for (const entry of entries.values()) if (entry.stale && entry.healthy && !entry.busy) track(poll(entry));
    });
  }

  function report(levels: PendingCounts | null, counted: readonly PersonaCounts[]): void {
    if (levels !== null && counted.length > 0) put({ is: 'counted', at: levels.at, counts: counted });
    if (onPendingList === undefined || isNotifying) return; // a slow listener misses a tick, because ticks are not queued
    isNotifying = true;
    notifying = Promise.allSettled([...background])
      .then(() => (abort.aborted ? undefined : onPendingList(levels, abort)))
      .finally(() => {
        isNotifying = false;
      });
  }

  return {
    /**
     * Inboxes whose count changed are polled first, because somebody waits for them. The rest do not wait long: a poll
     * may hang.
     */
    async tick(answer, request) {
      tickNumber += 1;
      const levels = answer?.levels ?? null;
      // The same object says of every inbox what it said before.
      const isRepeated = levels !== null && before === levels.byAddress;
      const isNothing = isRepeated && answer?.since === 'nothing' && request === 'no';
      if (quiet !== null && isNothing && tickNumber < quiet.endTick && clock.monotonic() < quiet.until)
        return report(levels, quiet.counted);
      quiet = null;
      const isExplained = levels === null || before === null || hasChanges(before, levels.byAddress);
      const canHide = source.pending?.hidesChanges === true;
      const isDoubtful = canHide && (answer?.since === 'broken' || (answer?.since === 'moved' && !isExplained));
      const isMoved = canHide && answer?.since === 'moved' && isExplained;
      before = levels?.byAddress ?? null;
      const hidesChanges = canHide && levels !== null && levels.cursor === null;
      const counted: PersonaCounts[] = [];
      let isQuiet = isNothing && !hidesChanges;
      let endTick = Number.POSITIVE_INFINITY;
      const considerEntry = (entry: InboxEntry, moment: TickMoment): void => {
        const { change } = entry;
        entry.change = 'same';
        const found = consider(entry, change, request, moment);
        if (found !== 'quiet') isQuiet = false;
        endTick = Math.min(endTick, entry.polledTick + resyncEvery + 1);
        if (found === 'begins') return;
        if (isMoved && !entry.busy) entry.stale = true;
        if (levels === null || entry.level === null) return;
        entry.counts ??= { persona: entry.watcher.persona.id, ...entry.level };
        counted.push(entry.counts);
      };
      const readMoment = (): TickMoment => ({ now: clock.now(), monotonic: clock.monotonic(), hidesChanges });
      const changed = new Set<InboxEntry>();
      for (const [address, entry] of entries) {
        const isKnown = isRepeated && entry.level !== null;
        const level =
          levels === null ? null : isKnown ? entry.level : (levels.byAddress.get(address) ?? NOTHING_UNREAD);
        const isNews = entry.level !== null || (level !== null && getUnreadCount(level) !== 0);
        entry.change = compareLevel(entry, level, isDoubtful);
        if (entry.change === 'changed' && isNews) changed.add(entry);
      }
      if (changed.size > 0) {
        const moment = readMoment();
        for (const entry of changed) considerEntry(entry, moment);
        await Promise.race([...background, clock.sleep(POLLS_FIRST_MS, abort)]);
      }
      if (abort.aborted) return;
      const moment = readMoment();
      for (const entry of entries.values()) if (!changed.has(entry)) considerEntry(entry, moment);
      if (isMoved) sweepLater();
      for (const [address, level] of levels?.byAddress ?? []) adopt(address, level);
      if (isQuiet) quiet = { counted, until: moment.monotonic + QUIET_AT_MOST_MS, endTick };
      report(levels, counted);
    },
    wake(address) {
      const entry = entries.get(address);
      if (entry === undefined) adopt(address);
      else track(poll(entry));
    },
    ...(adoption === null ? {} : { rescan: () => adoption.rescan((address) => adopt(address), course.cut, abort) }),
    get isFailing() {
      if (quiet !== null) return false;
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

/**
 * Runs at most `size` polls at once; the rest wait in order. Slow polls come after all others and never hold the last
 * free slot, so that inboxes that hang delay only each other.
 */
interface PollSlots {
  run<T>(slow: boolean, work: () => T | Promise<T>): T | Promise<T>;
}

export function createPollSlots(size: number): PollSlots {
  const slowSize = Math.max(1, size - 1);
  let running = 0;
  let slowRunning = 0;
  const quick: (() => void)[] = [];
  const slow: (() => void)[] = [];

  const isFree = (isSlow: boolean): boolean => running < size && (!isSlow || slowRunning < slowSize);
  const enter = (isSlow: boolean): void => {
    running += 1;
    if (isSlow) slowRunning += 1;
  };
  const leave = (isSlow: boolean): void => {
    running -= 1;
    if (isSlow) slowRunning -= 1;
    const next = quick.shift() ?? (isFree(true) ? slow.shift() : undefined);
    next?.();
  };

  /** Runs the work in the slot that was taken for it. Synchronous work frees the slot at once. */
  function runInPlace<T>(isSlow: boolean, work: () => T | Promise<T>): T | Promise<T> {
    let result: T | Promise<T>;
    try {
      result = work();
    } catch (error) {
      leave(isSlow);
      throw error;
    }
    if (result instanceof Promise) return result.finally(() => leave(isSlow));
    leave(isSlow);
    return result;
  }

  return {
    run(isSlow, work) {
      // A free slot is taken in the same turn, so that work which can begin now begins before any later request.
      if (isFree(isSlow)) {
        enter(isSlow);
        return runInPlace(isSlow, work);
      }
      const placed = new Promise<void>((resolve) => {
        (isSlow ? slow : quick).push(() => {
          enter(isSlow); // called by whoever leaves, so that no other work takes the slot in between
          resolve();
        });
      });
      return placed.then(() => runInPlace(isSlow, work));
    },
  };
}
