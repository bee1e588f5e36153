import { computeMsUntilDurationChanges, formatDuration } from '../../core/format/index.ts';

const MINUTE = 60_000;

/** Formats an age for a menu row. It is empty below a minute, so that no row changes every second. */
export function formatAge(ms: number): string {
  return ms < MINUTE ? '' : formatDuration(ms);
}

/** Returns after how many milliseconds `formatAge` gives another text, or a shorter time. */
export function computeMsUntilAgeChange(ms: number): number {
  return ms < MINUTE ? MINUTE - ms : computeMsUntilDurationChanges(ms);
}
