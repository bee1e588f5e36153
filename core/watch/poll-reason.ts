import type { Instant } from '../model/index.ts';

/** What the scheduler remembers of one persona between ticks. */
export interface Pace {
  readonly armed: boolean;
  /** The last poll was healthy. */
  readonly healthy: boolean;
  /** The last poll began less than half an interval ago, and nobody asked for another. */
  readonly recent: boolean;
  /** The sink refused events. They are not offered again before this instant. */
  readonly retryAt: Instant | null;
  /** The inbox was skipped so often, or for so long, that it is polled whatever the list says. */
  readonly overdue: boolean;
}

/**
 * What an answer of the pending list says about one inbox. `unknown`: nothing. `doubtful`: its counts are unchanged,
 * although something happened that no count explains.
 */
export type CountsChange = 'unknown' | 'changed' | 'doubtful' | 'same';

export type PollReason = 'arm' | 'failing' | 'retry' | 'fallback' | 'changed' | 'doubt' | 'floor' | 'asked';

/**
 * Returns why this tick polls the inbox of a persona, or null to skip the inbox (Kijito spec 9 and 14.2).
 *
 * The inbox is polled to arm, while it fails, to offer held events again, and without an answer of the pending list. It
 * is also polled when its counts changed or may hide a change. An overdue inbox is polled in any case, so that a wrong
 * count can only add latency. An answered hold makes early ticks. They do not poll a failing inbox again, because a
 * short outage would then be reported as a long one.
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

/** Milliseconds to wait before held events are offered again: 1 s, doubled each time up to 30 s. */
export function computeRetryDelay(refusals: number): number {
  return Math.min(1000 * 2 ** Math.max(refusals - 1, 0), 30_000);
}
