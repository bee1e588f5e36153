import type { Instant } from '../../core/model/index.ts';

/**
 * Hours of local time, as `HH:MM`. If `to` is before `from`, they end on the next day. If both are equal, they last the whole
 * day.
 */
export interface Hours {
  readonly from: string;
  readonly to: string;
}

/** The hour at which "until tomorrow" ends, because people are up then. */
const MORNING_HOUR = 8;

/** Returns the next day's morning in local time. */
export function computeTomorrowMorning(now: Instant): Instant {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, MORNING_HOUR).getTime();
}

/** Returns null when the text is not an instant. */
export function parseDateTime(text: string): Instant | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** Returns whether `now` is within these hours, and when that changes next. Correct also on days that have 23 or 25 hours. */
export function evaluateHours(
  now: Instant,
  { from, to }: Hours,
): { readonly within: boolean; readonly changesAt: Instant } {
  const day = new Date(now);
  // From yesterday to the day after tomorrow, so that there is a change before and after `now`.
  const moments = [-1, 0, 1, 2].flatMap((days) =>
    ([from, to] as const).map((text, i) => ({ at: toInstantOnDay(day, days, text), begins: i === 0 })),
  );
  moments.sort((a, b) => a.at - b.at || Number(a.begins) - Number(b.begins)); // an end that is also a beginning: they go on
  const last = moments.findLast(({ at }) => at <= now);
  const next = moments.find(({ at }) => at > now);
  return { within: last?.begins ?? false, changesAt: next?.at ?? now + 3_600_000 };
}

function toInstantOnDay(day: Date, days: number, text: string): Instant {
  const [hour = 0, minute = 0] = text.split(':').map(Number);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days, hour, minute).getTime();
}
