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
