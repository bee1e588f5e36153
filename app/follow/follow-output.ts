import type { FollowItem } from './follow-item.ts';

/** What became of a batch. `count` of its first were handed over, all others come again. */
export type FollowAck =
  | { readonly is: 'all' }
  /** No more of them fit this time; at least one did. */
  | { readonly is: 'some'; readonly count: number }
  | { readonly is: 'failed'; readonly count: number; readonly why: string }
  /** The one who took them is gone for good. */
  | { readonly is: 'nobody' }
  /** `stop` aborted first. */
  | { readonly is: 'stopped' };

/** How an agent is woken. */
export interface FollowOutput {
  /** So many at the most go over in one go. */
  readonly atOnce: number;
  /** Milliseconds between one batch and the next, for a harness that takes no more. */
  readonly pauseMs: number;
  /** So many events are read ahead, where it is said how many more there are; else no more than go over at once. */
  readonly readsAhead?: number;
  /**
   * In order, the first failure ends it. Never rejects for what the other side does. `behind`: so many more are read and
   * wait behind these.
   */
  take(items: readonly FollowItem[], stop: AbortSignal, behind: number): Promise<FollowAck>;
}
