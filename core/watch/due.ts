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
  /** The unread count that was known before the last look began; null when none was. */
  readonly unread: number | null;
  /** Consecutive ticks without a look. */
  readonly skipped: number;
}

export type Due = 'arm' | 'failing' | 'retry' | 'fallback' | 'unread' | 'floor' | 'asked';

/**
 * Why a persona's inbox is to be fetched on this tick, or null to skip it (Kijito spec 9 and 14.2): to arm, while it
 * fails, to offer held events again, without a pending answer, when unread rose, and at least after `resyncEvery` skips,
 * so that a lying count can only add latency. An answered hold makes ticks that come early: they count as no further
 * poll of an inbox that fails, or a short outage would be told as a long one. `counted`: the unread count the pending
 * list gives on this tick; null when there was no answer, or none of this persona.
 */
export function dueFor(
  pace: Pace,
  counted: number | null,
  at: Instant,
  resyncEvery: number,
  asked: boolean,
): Due | null {
  const early = !pace.healthy && pace.recent;
  if (!pace.armed && !early) return 'arm';
  if (pace.retryAt !== null) return at >= pace.retryAt || asked ? 'retry' : null;
  if (asked) return 'asked';
  if (!pace.healthy && !early) return 'failing';
  if (counted === null) return early ? null : 'fallback';
  if (pace.unread === null || counted > pace.unread) return 'unread';
  return pace.skipped >= resyncEvery ? 'floor' : null;
}

/** Milliseconds to wait before held events are offered again: 1 s, doubled to 30 s. */
export function retryDelay(refusals: number): number {
  return Math.min(1000 * 2 ** Math.max(refusals - 1, 0), 30_000);
}
