import { type Count, exactly, isSameCount, toFault, UNKNOWN } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import type { PendingCounts, Source, UnreadCounts } from '../sources/index.ts';

interface PendingOptions {
  readonly source: Source;
  readonly clock: Clock;
  readonly fastPath: boolean;
  /** How long one hold should last, in milliseconds; null: never hold. */
  readonly holdMs: number | null;
  /** How many ticks to skip before a source without a pending list is asked for one again. */
  readonly resyncEvery: number;
}

/** One answer of a pending list. */
export interface PendingListAnswer {
  readonly levels: PendingCounts;
  readonly since: SinceAnswer;
}

/**
 * What happened since the previous answer, apart from the counts. `moved`: the cursor moved. `broken`: a request
 * failed, so the server may be another one, with another cursor.
 */
type SinceAnswer = 'nothing' | 'moved' | 'broken';

/**
 * The pending list of one source. It is asked once per tick, or held open between ticks where source and server support
 * it.
 */
interface PendingList {
  /** Asks for one answer. Null: there is none, so every inbox is polled (the baseline of Kijito spec 9). */
  ask(abort: AbortSignal): Promise<PendingListAnswer | null>;
  /**
   * Waits until `until` (monotonic) or `end`. While the list is held open, its answer ends the wait, before or after
   * `until`. `punctual`: not after `until`.
   */
  rest(until: number, punctual: boolean, end: AbortSignal): Promise<PendingListAnswer | null>;
  /** Forgets earlier failures, so that no request waits after an interruption. */
  renew(): void;
}

/** The wait after a failed hold, in milliseconds. It doubles with each failure, up to `HOLD_RETRY_MOST_MS`. */
const HOLD_RETRY_MS = 2000;
const HOLD_RETRY_MOST_MS = 30_000;
/**
 * An answer without changes that arrives sooner than this was not held. At most one such answer per second is accepted.
 */
const HOLD_LEAST_MS = 1000;

export function createPendingList(options: PendingOptions): PendingList {
  const { source, clock, holdMs } = options;
  const pending = options.fastPath ? source.pending : undefined;
  /** Undefined: no answer has shown yet whether the list can be held. Null: it cannot be held. */
  let cursor: string | null | undefined;
  /** The request of `ask` that is in flight. */
  let underWay: Promise<PendingListAnswer | null> | null = null;
  let failures = 0;
  let pause = 0;
  /** No answer has arrived since the last failure. */
  let isBroken = false;
  let counts: PendingCounts['byAddress'] | null = null;
  /** Every count of the last answer equals the previous one. */
  let isEmpty = false;

  function hear(levels: PendingCounts): PendingListAnswer {
    const isMoved = cursor !== undefined && levels.cursor !== null && levels.cursor !== cursor;
    const since = isBroken ? 'broken' : isMoved ? 'moved' : 'nothing';
    isBroken = false;
    cursor = levels.cursor;
    isEmpty = counts !== null && !hasChanges(counts, levels.byAddress);
    counts = levels.byAddress;
    return { levels, since };
  }

  function ask(abort: AbortSignal): Promise<PendingListAnswer | null> {
    underWay = askOnce(abort).finally(() => {
      underWay = null;
    });
    return underWay;
  }

  async function askOnce(abort: AbortSignal): Promise<PendingListAnswer | null> {
    if (pending === undefined) return null;
    if (pause > 0) {
      pause -= 1;
      return null;
    }
    try {
      return hear(await pending.once(abort));
    } catch (error) {
      // A missing answer is no failure here: every inbox is polled instead, and the failures of those polls count.
      if (!abort.aborted) isBroken = true;
      const fault = toFault(error, { is: 'source', key: source.id });
      if (fault.code === 'not-found') {
        pause = options.resyncEvery;
        cursor = null;
      }
      return null;
    }
  }

  const retryAfter = (): number => Math.min(HOLD_RETRY_MS * 2 ** (failures - 1), HOLD_RETRY_MOST_MS);

  async function rest(until: number, punctual: boolean, end: AbortSignal): Promise<PendingListAnswer | null> {
    const computeLeft = () => Math.max(0, until - clock.monotonic());
    // A hive that accepts the request and never answers must not delay the next tick.
    const late = new AbortController();
    using _ = punctual ? clock.after(computeLeft(), () => late.abort()) : null;
    const stop = punctual ? AbortSignal.any([end, late.signal]) : end;
    const canHold = pending?.hold !== undefined && holdMs !== null;
    if (canHold && underWay !== null) {
      const answer = await waitUnlessAborted(underWay, stop);
      if (answer !== null) return answer;
    }
    if (canHold && cursor === undefined && failures === 0) failures = 1; // the first request has just failed
    let wait = cursor === undefined ? retryAfter() : 0;
    while (pending?.hold !== undefined && holdMs !== null && cursor !== null && !stop.aborted) {
      if (wait > 0) {
        if (wait >= computeLeft()) break;
        await clock.sleep(wait, stop);
        if (stop.aborted) break;
      }
      const began = clock.monotonic();
      try {
        const before = cursor;
        const levels =
          before === undefined
            ? await pending.once(stop)
            : await pending.hold(before, punctual ? Math.min(holdMs, computeLeft()) : holdMs, stop);
        const early = began + HOLD_LEAST_MS - clock.monotonic();
        failures = 0;
        const wasEmpty = isEmpty;
        const answer = hear(levels);
        // A new cursor alone is a change. A server that sends a new one with each answer and never holds is asked once
        // per second.
        const isPaced = early > 0 && (levels.cursor === before || (isEmpty && wasEmpty));
        if (isPaced) await clock.sleep(early, stop);
        return answer;
      } catch {
        // The hold is retried on its own schedule with the same cursor. Meanwhile ticks come at the interval and ask
        // `once`.
        if (!stop.aborted) isBroken = true;
        failures += 1;
        wait = retryAfter();
      }
    }
    await clock.sleep(computeLeft(), stop);
    return null;
  }

  return {
    ask,
    rest,
    renew() {
      failures = 0;
      pause = 0;
    },
  };
}

/** Resolves with the answer, or with null as soon as the signal aborts. The request itself continues. */
async function waitUnlessAborted<T>(answer: Promise<T | null>, signal: AbortSignal): Promise<T | null> {
  if (signal.aborted) return null;
  const stop = Promise.withResolvers<null>();
  const abort = (): void => stop.resolve(null);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([answer, stop.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** A persona that is not in the list has nothing unread. */
export const NOTHING_UNREAD: UnreadCounts = { unread: exactly(0), urgent: exactly(0) };

/** Returns the unread count, or null when the source does not give one. */
export function getUnreadCount({ unread }: UnreadCounts): number | null {
  return unread.is === 'unknown' ? null : unread.n;
}

export function isSameCounts(a: UnreadCounts, b: UnreadCounts): boolean {
  return a === b || (isSameCount(a.unread, b.unread) && isSameCount(a.urgent, b.urgent));
}

/** Returns whether any count differs between two answers. */
export function hasChanges(before: PendingCounts['byAddress'], after: PendingCounts['byAddress']): boolean {
  if (before === after) return false;
  for (const [address, level] of after) if (!isSameCounts(before.get(address) ?? NOTHING_UNREAD, level)) return true;
  for (const [address, level] of before) if (!after.has(address) && !isSameCounts(level, NOTHING_UNREAD)) return true;
  return false;
}

/**
 * Computes how much of the unread mail that a poll found is urgent. Messages do not say, so the counts of the pending
 * list decide. If the two unread counts differ, the urgent count of the list is only a lower bound, and 0 means
 * unknown.
 */
export function countUrgent(unread: Count, level: UnreadCounts | null): Count {
  if (unread.is === 'exact' && unread.n === 0) return exactly(0);
  if (level === null || level.urgent.is === 'unknown') return UNKNOWN;
  if (unread.is === 'unknown' || isSameCount(unread, level.unread)) return level.urgent;
  const n = Math.min(level.urgent.n, unread.n);
  return n === 0 ? UNKNOWN : { is: 'atLeast', n };
}
