import type { Instant, PersonaId, Scope } from '../model/index.ts';
import type { HistoryFact } from './fact.ts';
import type { HistoryState } from './point.ts';

/** The history of all personas, stored in a database. It is derived from facts and may be deleted at any time. */
export interface History extends HistoryReader, Disposable {
  /** Records what the fact changed. Changes are written together some seconds later. Never throws. */
  hear(fact: HistoryFact): void;
}

export interface HistoryReader {
  /**
   * Returns all personas over the last hours, at most as far back as is stored.
   * @throws Fault `database` when there is no history now
   */
  overview(hours: number): Overview;
  /**
   * Returns one persona; null when nothing is known of this id.
   * @throws Fault as `overview`
   */
  findPersona(persona: PersonaId, hours: number): PersonaHistory | null;
  /**
   * Returns the newest alerts first: `limit` at most, and fewer when they name very many personas.
   * @throws Fault as `overview`
   */
  alerts(limit: number): readonly Alert[];
}

/** The number of slots in an overview. */
export const SLOTS = 90;

/**
 * `SLOTS` slots of equal length. Their borders are whole multiples of that length since 1970, so a slot that is over
 * never changes. The last slot is still running, and `to` is its end.
 */
export interface Overview {
  readonly from: Instant;
  readonly to: Instant;
  readonly personas: ReadonlyMap<PersonaId, SlotHistory>;
}

export interface SlotHistory {
  /** The last number known within each slot; null: none was known. */
  readonly unread: readonly (number | null)[];
  /** The worst state within each slot: down, failing, up; unknown when nothing was known in it. */
  readonly states: readonly HistoryState[];
}

export interface PersonaHistory {
  readonly from: Instant;
  readonly to: Instant;
  /**
   * The number from each moment on, the first at `from`; null: not known. At most about 1,000 points; more are thinned
   * evenly.
   */
  readonly points: readonly (readonly [Instant, number | null])[];
  /** The states from `from` to `to`, without gaps. */
  readonly states: readonly { readonly state: HistoryState; readonly from: Instant; readonly to: Instant }[];
}

/** One outage: everything that was wrong for one cause, from the first fault to the end of the last. */
export interface Alert {
  /** Alerts with the same key have the same cause. */
  readonly key: string;
  readonly scope: Scope['is'];
  /** One line of our own words, with the next step. */
  readonly message: string;
  /** All personas that were affected at any time. */
  readonly personas: readonly PersonaId[];
  readonly since: Instant;
  /** Null: it continues. */
  readonly until: Instant | null;
}
