import type { Instant } from '../model/index.ts';

/** A reading of the wall clock, in whole milliseconds that rise. */
export type Glance =
  | { readonly is: 'steady'; readonly at: Instant }
  /** There was no reading for long: the machine slept, the process hung, or the clock was set forward. */
  | { readonly is: 'away'; readonly last: Instant; readonly at: Instant }
  /** The clock was set back. */
  | { readonly is: 'back'; readonly last: Instant; readonly at: Instant };

/** Milliseconds without a reading after which the time between counts as unwatched. */
export const AWAY_MS = 150_000;
/** A clock that is adjusted steps back by less than this, in milliseconds. Meanwhile the time stands still. */
const STEERED_MS = 1000;

/** Distinguishes watched from unwatched time. The caller must read it more often than every `AWAY_MS`. */
export function createPresence(now: () => Instant): () => Glance {
  let last = Math.floor(now());
  return () => {
    const read = Math.floor(now());
    const before = last;
    if (read < before && before - read <= STEERED_MS) return { is: 'steady', at: before };
    last = read;
    if (read < before) return { is: 'back', last: before, at: read };
    if (read - before > AWAY_MS) return { is: 'away', last: before, at: read };
    return { is: 'steady', at: read };
  };
}
