import type { Instant } from '../model/index.ts';

/** A glance at the wall clock, in whole milliseconds that rise. */
export type Glance =
  | { readonly is: 'steady'; readonly at: Instant }
  /** Nobody looked for long: the machine slept, the process hung, or the clock was set forward. */
  | { readonly is: 'away'; readonly last: Instant; readonly at: Instant }
  /** The clock was set back. */
  | { readonly is: 'back'; readonly last: Instant; readonly at: Instant };

/** Without a glance for longer, the time between is unwatched. */
export const AWAY_MS = 150_000;
/** A clock that is steered steps back by less; time stands still for so long. */
const STEERED_MS = 1000;

/** Tells time that was lived through from time that was not. Someone must glance more often than every `AWAY_MS`. */
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
