import { type AddressActivity, NO_ACTIVITY } from './address-activity.ts';

/** The settings of the alarms of one hive. Times in this folder are monotonic milliseconds. */
export interface AlarmRules {
  readonly stranded: boolean;
  readonly urgent: boolean;
  /** Two answers closer than half of this count as one poll. */
  readonly pollMs: number;
  /** Senders whose mail makes no event, in the form that `foldName` returns. Their sending is never observed. */
  readonly suppressed: ReadonlySet<string>;
}

/** The number of polls for which mail lies unread before it counts as stranded, so that a reader has time to read it. */
export const STRANDED_POLLS = 3;
/** The number of consecutive polls of observed silence over urgent mail. */
export const URGENT_POLLS = 5;
/** The maximum number of addresses that are kept; the most recently observed ones stay. */
export const MAX_OBSERVED = 5000;

/** An inbox with unread mail. */
export interface UnreadInbox {
  readonly unread: number;
  readonly urgent: number;
  /** When its mail was first seen, and the number of polls since. */
  readonly since: number;
  readonly polls: number;
  /** Since when there is urgent mail and its reader did nothing, as far as was seen; null: there is none. */
  readonly urgentSince: number | null;
  /** The uninterrupted part of that silence that was observed; null: none now. */
  readonly silence: { readonly since: number; readonly polls: number } | null;
}

/** Everything that is known of one hive. Plain data. */
export interface AlarmState {
  readonly held: ReadonlyMap<string, UnreadInbox>;
  readonly observed: ReadonlyMap<string, AddressActivity>;
  /** When the last answer that counted as a poll arrived; null: none yet. */
  readonly polledAt: number | null;
  /** Names whose alarm was delivered and is not over, with the time since when the reported state holds. */
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
