/** Without what would wedge a spawn or a file write later: a lone surrogate, or NUL (Kijito contract, trap 8). */
export function sanitizeText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
}

/** The first `count` code points, as a string of its own: a slice would keep the whole mail in memory. */
export function cut(text: string, count: number): string {
  if (text.length <= count) return text;
  return [...text.slice(0, 2 * count)].slice(0, count).join('');
}

/** What stands where a value cannot be written as JSON. */
export const UNREADABLE = '(a value that is nested too deeply to be shown)';

/** A value as JSON. What nobody can write, since it is nested too deeply, is a placeholder: it must not block its neighbours. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return UNREADABLE; // JSON that was parsed can fail for nothing but its depth
  }
}
