const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

/**
 * Parses a date or time of ISO 8601 into milliseconds since 1970. Without a zone it is local time. Null: the text is neither.
 */
export function parseLocalTime(text: string): number | null {
  if (!DATE.test(text) && !TIME.test(text)) return null;
  const millis = Date.parse(DATE.test(text) ? `${text}T00:00` : text);
  return Number.isNaN(millis) ? null : millis;
}
