const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const WEEK_DAYS = 7;

/**
 * Formats an instant as the clock on the wall shows it: `14:30` today, `Mon 08:00` within the next week, else
 * `2026-12-24`. Every surface prints local time this way.
 * @param at milliseconds since 1970
 */
export function formatClockTime(at: number, now: number): string {
  const then = new Date(at);
  const today = new Date(now);
  const time = `${pad(then.getHours())}:${pad(then.getMinutes())}`;
  if (then.toDateString() === today.toDateString()) return time;
  const weekAhead = new Date(today.getFullYear(), today.getMonth(), today.getDate() + WEEK_DAYS).getTime();
  if (at > now && at < weekAhead) return `${DAYS[then.getDay()]} ${time}`;
  return `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())}`;
}

/** Formats date and time to the second, in the form of the reader's language: what a tooltip shows. */
export function formatFullTime(at: number): string {
  return new Date(at).toLocaleString();
}

/**
 * Formats an ISO 8601 instant as `2026-11-30 14:05:09` in local time: what a log shows, where every line has the same width. Null:
 * the text is no instant.
 */
export function formatLogTime(instant: string): string | null {
  const then = new Date(instant);
  if (Number.isNaN(then.getTime())) return null;
  const day = `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())}`;
  return `${day} ${pad(then.getHours())}:${pad(then.getMinutes())}:${pad(then.getSeconds())}`;
}

/**
 * Formats how long something is silent: `muted until 14:30`, or `muted` when it has no end.
 * @param end milliseconds since 1970; null: no end
 */
export function formatSilence(word: string, end: number | null, now: number, formatTime = formatClockTime): string {
  return end === null ? word : `${word} until ${formatTime(end, now)}`;
}

function pad(n: number): string {
  return String(n).padStart(2, '0');
}
