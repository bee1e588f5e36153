import { formatDuration } from './quantity.ts';

/**
 * Formats when the default option of a question is chosen because nobody answers: `chosen by itself in 23 h`. Every surface says it
 * this way. Null when the question waits for ever.
 * @param expires milliseconds since 1970; null: never
 */
export function formatDefaultChoice(expires: number | null, now: number): string | null {
  if (expires === null) return null;
  return expires <= now ? 'chosen by itself now' : `chosen by itself in ${formatDuration(expires - now)}`;
}
