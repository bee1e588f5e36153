import type { Item } from './item.ts';

/** What became of a batch. `count` of its first were handed over, all others come again. */
export type Handed =
  | { readonly is: 'all' }
  | { readonly is: 'failed'; readonly count: number; readonly why: string }
  /** The one who took them is gone for good. */
  | { readonly is: 'nobody' }
  /** `stop` aborted first. */
  | { readonly is: 'stopped' };

/** How an agent is woken. */
export interface Hand {
  /** So many at the most go over in one go. */
  readonly atOnce: number;
  /** Milliseconds between one batch and the next, for a harness that takes no more. */
  readonly pauseMs: number;
  /** In order, the first failure ends it. Never rejects for what the other side does. */
  take(items: readonly Item[], stop: AbortSignal): Promise<Handed>;
}
