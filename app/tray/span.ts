const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time as a menu says it: `4 min`, `3 h`, `2 d`; empty below a minute. */
export function spanOf(ms: number): string {
  const step = stepOf(ms);
  const n = Math.floor(ms / step);
  if (n < 1) return '';
  return `${n} ${step === MINUTE ? 'min' : step === HOUR ? 'h' : 'd'}`;
}

/** In how many milliseconds `spanOf` says something else; never later than that. */
export function spanLasts(ms: number): number {
  const step = stepOf(ms);
  return (Math.floor(ms / step) + 1) * step - ms;
}

/** Hours up to two days, so that "yesterday" is still told in hours. */
function stepOf(ms: number): number {
  if (ms < HOUR) return MINUTE;
  return ms < 2 * DAY ? HOUR : DAY;
}
