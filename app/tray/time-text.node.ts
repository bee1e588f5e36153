import type { Instant } from '../../core/model/index.ts';

/** Formats an instant of the near future for a person, relative to `now`. */
export type TimeFormatter = (at: Instant, now: Instant) => string;

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const WEEK_DAYS = 7;

/** Formats local time: `14:30`, on another day of the week `Mon 08:00`, later `2026-12-24`. */
export const formatTimeText: TimeFormatter = (at, now) => {
  const then = new Date(at);
  const today = new Date(now);
  const time = `${pad(then.getHours())}:${pad(then.getMinutes())}`;
  if (then.toDateString() === today.toDateString()) return time;
  const weekAhead = new Date(today.getFullYear(), today.getMonth(), today.getDate() + WEEK_DAYS).getTime();
  if (at > now && at < weekAhead) return `${DAYS[then.getDay()]} ${time}`;
  return `${then.getFullYear()}-${pad(then.getMonth() + 1)}-${pad(then.getDate())}`;
};

function pad(n: number): string {
  return String(n).padStart(2, '0');
}
