import { type AddressActivity, NO_ACTIVITY } from './address-activity.ts';

/** What the alarms of one hive obey. Times of this room are monotonic milliseconds. */
export interface AlarmRules {
  readonly stranded: boolean;
  readonly urgent: boolean;
  /** Two answers closer than half of this are one poll. */
  readonly pollMs: number;
  /** Senders whose mail makes no event, as `foldName` has them: of these it is never seen that they send. */
  readonly suppressed: ReadonlySet<string>;
}

/** Polls that mail lies unread before it is called stranded: whoever is about to read it has had the time. */
export const STRANDED_POLLS = 3;
/** Polls in a row of observed silence over urgent mail. */
export const URGENT_POLLS = 5;
/** As many addresses are remembered; those that were observed last. */
export const MAX_OBSERVED = 5000;

/** An inbox with unread mail. */
export interface UnreadInbox {
  readonly unread: number;
  readonly urgent: number;
  /** When its mail was seen first, and polls since. */
  readonly since: number;
  readonly polls: number;
  /** Since when there is urgent mail and its reader did nothing, as far as was seen; null: there is none. */
  readonly urgentSince: number | null;
  /** The same as it was observed in one go; null: not now. */
  readonly silence: { readonly since: number; readonly polls: number } | null;
}

/** Everything that is known of one hive. Plain data. */
export interface AlarmState {
  readonly held: ReadonlyMap<string, UnreadInbox>;
  readonly observed: ReadonlyMap<string, AddressActivity>;
  /** When the last answer that counted as a poll came; null: none yet. */
  readonly polledAt: number | null;
  /** Names that somebody was told of and that are not over, and since when that was so which was told. */
  readonly raised: { readonly stranded: ReadonlyMap<string, number>; readonly urgent: ReadonlyMap<string, number> };
}

export const NOTHING_OBSERVED: AlarmState = {
  held: new Map(),
  observed: new Map(),
  polledAt: null,
  raised: { stranded: new Map(), urgent: new Map() },
};

export function getActivity(state: AlarmState, address: string): AddressActivity {
  return state.observed.get(address) ?? NO_ACTIVITY;
}
