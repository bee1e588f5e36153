import { computeMsUntilDurationChanges, formatDuration } from '../../core/format/index.ts';

const MINUTE = 60_000;

/** An age in a menu row; empty below a minute, so that no row changes every second. */
export function formatAge(ms: number): string {
  return ms < MINUTE ? '' : formatDuration(ms);
}

/** In how many milliseconds `formatAge` prints something else. Never later than that. */
export function computeMsUntilAgeChange(ms: number): number {
  return ms < MINUTE ? MINUTE - ms : computeMsUntilDurationChanges(ms);
}
