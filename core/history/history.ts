import type { Instant, PersonaId, Scope } from '../model/index.ts';
import type { HistoryFact } from './fact.ts';
import type { HistoryState } from './point.ts';

/** What was, in memory of the database: derived from facts, and may be deleted at any time. */
export interface History extends HistoryReader, Disposable {
  /** Remembers what the fact changed; it is written with others some seconds later. Never throws. */
  hear(fact: HistoryFact): void;
}

export interface HistoryReader {
  /** All personas over the last hours, at most as far back as is kept. @throws Fault `database` when there is no history now */
  overview(hours: number): Overview;
  /** One persona; null when nothing is known of one with this id. @throws Fault as `overview` */
  findPersona(persona: PersonaId, hours: number): PersonaHistory | null;
  /** The newest first: `limit` at most, and fewer where they name very many personas. @throws Fault as `overview` */
  alerts(limit: number): readonly Alert[];
}

/** How many slots an overview has. */
export const SLOTS = 90;

/**
 * `SLOTS` slots of equal length. Their borders stand still (whole multiples of that length since 1970), so a slot that is
 * over never changes; the last one goes on, and `to` is its end.
 */
export interface Overview {
  readonly from: Instant;
  readonly to: Instant;
  readonly personas: ReadonlyMap<PersonaId, SlotHistory>;
}

export interface SlotHistory {
  /** The last number known within each slot; null: none was. */
  readonly unread: readonly (number | null)[];
  /** The worst state within each slot: down, failing, up; unknown when nothing was known in it. */
  readonly states: readonly HistoryState[];
}

export interface PersonaHistory {
  readonly from: Instant;
  readonly to: Instant;
  /** The number from each moment on, the first at `from`; null: not known. At most about 1,000: more are thinned evenly. */
  readonly points: readonly (readonly [Instant, number | null])[];
  /** Without gaps from `from` to `to`. */
  readonly states: readonly { readonly state: HistoryState; readonly from: Instant; readonly to: Instant }[];
}

/** One outage: everything that was wrong for one cause, from its first trouble to the end of its last. */
export interface Alert {
  /** The same key is the same cause. */
  readonly key: string;
  readonly scope: Scope['is'];
  /** One line of our own words, with the next step. */
  readonly message: string;
  /** Everybody it was about, sooner or later. */
  readonly personas: readonly PersonaId[];
  readonly since: Instant;
  /** Null: it goes on. */
  readonly until: Instant | null;
}
