/** Removes what would break a spawn or a file write later: lone surrogates and NUL (Kijito contract, trap 8). */
export function sanitizeText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
}

/** The first `count` code points, as a separate string: a slice would keep the whole mail in memory. */
export function cut(text: string, count: number): string {
  if (text.length <= count) return text;
  return [...text.slice(0, 2 * count)].slice(0, count).join('');
}

/** The placeholder for a value that cannot be written as JSON. */
export const UNREADABLE = '(a value that is nested too deeply to be shown)';

/** A value as JSON. A value that is nested too deeply becomes a placeholder, so that it does not block its neighbours. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return UNREADABLE; // parsed JSON can fail here only because of its depth
  }
}
