/** Formats a number of things: `1 session`, `2 sessions`. */
export function formatQuantity(count: number, singular: string): string {
  return `${count} ${singular}${count === 1 ? '' : 's'}`;
}

/** Formats a number that is known: `3`, or `200+` when there may be more. */
export function formatCount(n: number, is: 'exact' | 'atLeast'): string {
  return is === 'exact' ? `${n}` : `${n}+`;
}

/** Formats a list of which at most `most` are named: `ada, bo and 3 more`. */
export function formatList(names: readonly string[], most: number): string {
  return `${names.slice(0, most).join(', ')}${formatRest(names.length - most)}`;
}

/** Formats the end of a list: ` and 3 more`; empty when nothing is left. */
export function formatRest(count: number): string {
  return count > 0 ? ` and ${count} more` : '';
}

/** Formats a UTC time in ISO 8601 to the second: `2026-06-20T10:00:00Z`. */
export function formatUtcTime(iso: string): string {
  return `${iso.slice(0, 19)}Z`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Hours are used up to two days, so that "yesterday" is still shown in hours. */
const UNITS = [
  { ms: DAY, name: 'd', from: 2 * DAY },
  { ms: HOUR, name: 'h', from: HOUR },
  { ms: MINUTE, name: 'min', from: MINUTE },
  { ms: SECOND, name: 's', from: 0 },
] as const;

/**
 * Formats a duration as every surface prints it: `45 s`, `59 min`, `3 h`, `2 d`. Whole units, rounded down.
 * @param ms milliseconds; a negative duration is `0 s`
 */
export function formatDuration(ms: number): string {
  const { ms: unit, name } = findUnit(ms);
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}

/** Returns in how many milliseconds, at the latest, `formatDuration` prints something else. */
export function computeMsUntilDurationChanges(ms: number): number {
  const { ms: unit } = findUnit(ms);
  const next = (Math.floor(ms / unit) + 1) * unit;
  return next - ms;
}

function findUnit(ms: number): (typeof UNITS)[number] {
  return UNITS.find(({ from }) => ms >= from) ?? UNITS[3];
}
