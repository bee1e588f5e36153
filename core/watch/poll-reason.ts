import type { Instant } from '../model/index.ts';

/** What the scheduler remembers of one persona between ticks. */
export interface Pace {
  readonly armed: boolean;
  /** Reach is up: the last look was healthy. */
  readonly healthy: boolean;
  /** The last look began less than half an interval ago, and nobody asked for another. */
  readonly recent: boolean;
  /** The sink refused; not before this instant is it offered again. */
  readonly retryAt: Instant | null;
  /** It was skipped so often, or for so long, that it is looked at whatever the list says. */
  readonly overdue: boolean;
}

/**
 * What an answer of the pending list says of one inbox. `unknown`: nothing. `doubtful`: its counts are those of before, and
 * yet something happened that no count explains.
 */
export type CountsChange = 'unknown' | 'changed' | 'doubtful' | 'same';

export type PollReason = 'arm' | 'failing' | 'retry' | 'fallback' | 'changed' | 'doubt' | 'floor' | 'asked';

/**
 * Why a persona's inbox is to be fetched on this tick, or null to skip it (Kijito spec 9 and 14.2): to arm, while it
 * fails, to offer held events again, without a pending answer, when its counts changed or may hide a change, and when it is
 * overdue, so that a lying count can only add latency. An answered hold makes ticks that come early: they count as no
 * further poll of an inbox that fails, or a short outage would be told as a long one.
 */
export function findPollReason(pace: Pace, counts: CountsChange, at: Instant, isRequested: boolean): PollReason | null {
  const early = !pace.healthy && pace.recent;
  if (!pace.armed && !early) return 'arm';
  if (pace.retryAt !== null) return at >= pace.retryAt || isRequested ? 'retry' : null;
  if (isRequested) return 'asked';
  if (!pace.healthy && !early) return 'failing';
  if (counts === 'changed') return 'changed';
  if (early) return null;
  if (counts === 'unknown') return 'fallback';
  if (counts === 'doubtful') return 'doubt';
  return pace.overdue ? 'floor' : null;
}

/** Milliseconds to wait before held events are offered again: 1 s, doubled to 30 s. */
export function computeRetryDelay(refusals: number): number {
  return Math.min(1000 * 2 ** Math.max(refusals - 1, 0), 30_000);
}
