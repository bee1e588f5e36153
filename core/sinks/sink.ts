import type { Event } from '../events/index.ts';
import type { Fault } from '../model/index.ts';

/**
 * What a sink took: everything, or the first `count` events and then a failure. `lost`: of these events some were tried
 * once and will not be tried again.
 */
export type Ack =
  | { readonly is: 'all'; readonly lost?: LostEvents }
  | { readonly is: 'stopped'; readonly count: number; readonly fault: Fault; readonly lost?: LostEvents };

/** Events that a sink was offered and did not take, by their index in the offer, and why the last of them failed. */
export interface LostEvents {
  readonly indexes: ReadonlySet<number>;
  readonly fault: Fault;
}

/** What a sink already holds at start, so that a kill between sink and mark repeats nothing: `event_id`s of `new` events. */
export interface Tail {
  readonly eventIds: ReadonlySet<string>;
  /** The highest `id` of an event it ever took, where it knows; 0 for none. */
  readonly newest?: number;
}

export const EMPTY_TAIL: Tail = { eventIds: new Set() };

/**
 * Where one watch's events go; exactly one a watch. `take` hands over in order and stops at the first failure; it never
 * rejects. `Kept` is what the watch wants remembered with the events: a sink that keeps it (the outbox) makes both
 * durable as one, any other sink ignores it and the watcher saves it elsewhere.
 */
export interface Sink<Saved> extends AsyncDisposable {
  /** True when `take` also makes `kept` durable. */
  readonly savesState: boolean;
  /** @throws Fault when the sink can never work. A sink that is only refused for now opens, and fails its `take`. */
  open(): Promise<Tail>;
  take(events: readonly Event[], saved: Saved, signal: AbortSignal): Promise<Ack>;
}
