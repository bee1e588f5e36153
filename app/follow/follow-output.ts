import type { FollowItem } from './follow-item.ts';

/** What became of a batch. The first `count` items were handed over; all others are offered again. */
export type FollowAck =
  | { readonly is: 'all' }
  /** At least one item was handed over, and no more fit this time. */
  | { readonly is: 'some'; readonly count: number }
  | { readonly is: 'failed'; readonly count: number; readonly why: string }
  /** The reader is gone for good. */
  | { readonly is: 'nobody' }
  /** `stop` was aborted first. */
  | { readonly is: 'stopped' };

/** One way to wake an agent. */
export interface FollowOutput {
  /** The most items that `take` gets at once. */
  readonly atOnce: number;
  /** Milliseconds between two batches, for a harness that takes no more. */
  readonly pauseMs: number;
  /** How many events are read ahead, for an output that says how many more wait. Default: `atOnce`. */
  readonly readsAhead?: number;
  /**
   * Hands over items in order and stops at the first failure. It never rejects because of the other side. `behind` is the
   * number of items that are read and wait behind these.
   */
  take(items: readonly FollowItem[], stop: AbortSignal, behind: number): Promise<FollowAck>;
}
