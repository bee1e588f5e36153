/** Milliseconds since 1970-01-01T00:00:00Z; a fraction carries microseconds. */
export type Instant = number;

const DAY = 86_400_000;

/**
 * Formats an instant in the UTC form of every event: `2026-06-20T10:00:00.123000+00:00`, always with six decimals. It
 * is pure arithmetic (proleptic Gregorian calendar), so that the core needs no wall clock to print a time.
 */
export function formatIso(at: Instant): string {
  if (at !== last.at) last = { at, text: formatUncached(at) };
  return last.text;
}

/** The events of a storm share a few instants. */
let last = { at: Number.NaN, text: '' };

function formatUncached(at: Instant): string {
  // Rounds to the nearest, because a double holds today's microseconds only to about a quarter.
  const micros = Math.round(at * 1000);
  const days = Math.floor(micros / (DAY * 1000));
  const rest = micros - days * DAY * 1000;
  if (days !== lastDate.days) lastDate = { days, text: formatDate(days) };
  const seconds = Math.floor(rest / 1_000_000);
  const time = `${pad(Math.floor(seconds / 3600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`;
  return `${lastDate.text}T${time}.${pad(rest % 1_000_000, 6)}+00:00`;
}

/** Most instants are of the same day as the one before. */
let lastDate = { days: Number.NaN, text: '' };

function formatDate(days: number): string {
  const { year, month, day } = toCalendarDate(days);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/;

/** Parses a text that `formatIso` made; null for any other text. */
export function parseIso(text: string): Instant | null {
  if (!ISO.test(text)) return null;
  const part = (from: number, to: number): number => Number(text.slice(from, to));
  const seconds = Date.UTC(part(0, 4), part(5, 7) - 1, part(8, 10), part(11, 13), part(14, 16), part(17, 19));
  return seconds + part(20, 26) / 1000;
}

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):?(\d\d))?$/i;

/** Parses an ISO 8601 timestamp as sources write it. Without an offset it is UTC. Null for any other text. */
export function parseTimestamp(text: string): Instant | null {
  const match = TIMESTAMP.exec(text.trim());
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const offset = (part(9) * 60 + part(10)) * 60_000 * (match[8] === '-' ? -1 : 1);
  const seconds = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6));
  const at = seconds + Number(`0${match[7] ?? ''}`) * 1000 - offset;
  return Number.isFinite(at) ? at : null;
}

/** Converts days since 1970-01-01 to a calendar date, with eras of 400 years (146,097 days) and years that begin in March. */
function toCalendarDate(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day };
}

function pad(n: number, width: number): string {
  return String(n).padStart(width, '0');
}
