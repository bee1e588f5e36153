import type { Event } from '../events/index.ts';
import type { Fault } from '../model/index.ts';

/**
 * The answer of a sink to a batch: everything was accepted, or the first `count` events before a failure. `lost`:
 * events that were tried once and will not be tried again.
 */
export type Ack =
  | { readonly is: 'all'; readonly lost?: LostEvents }
  | { readonly is: 'stopped'; readonly count: number; readonly fault: Fault; readonly lost?: LostEvents };

/** Events of a batch that a sink did not accept, by their index in the batch, and why the last of them failed. */
export interface LostEvents {
  readonly indexes: ReadonlySet<number>;
  readonly fault: Fault;
}

/** The `event_id`s of `new` events that a sink holds at start, so that a kill between sink and checkpoint repeats no event. */
export interface Tail {
  readonly eventIds: ReadonlySet<string>;
  /** The highest `id` of an event that the sink ever took, if it knows; 0 for none. */
  readonly newest?: number;
}

export const EMPTY_TAIL: Tail = { eventIds: new Set() };

/**
 * Where the events of one watcher go; exactly one per watcher. `take` delivers the events in order and stops at the
 * first failure. It never rejects. `Saved` is the state that the watcher wants to save with the events. A sink with
 * `savesState` (the outbox) makes both durable together. Any other sink ignores the state, and the watcher saves it
 * elsewhere.
 */
export interface Sink<Saved> extends AsyncDisposable {
  /** True when `take` also makes `saved` durable. */
  readonly savesState: boolean;
  /**
   * Opens the sink. A sink that is refused only for now opens anyway, and its `take` fails.
   * @throws Fault when the sink can never work.
   */
  open(): Promise<Tail>;
  take(events: readonly Event[], saved: Saved, signal: AbortSignal): Promise<Ack>;
}
