import { type Finding, fail, ok, warn } from './finding.ts';

export interface ClockProbe {
  readonly now: number;
  /** How far each clock went over the same span, in milliseconds. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The start of 2026. This program is not older. */
const SURELY_PAST = 1_767_225_600_000;
const MOST_APART_MS = 50;

export function judgeClock({ now, wallMs, monotonicMs }: ClockProbe): Finding {
  const next = 'set the clock: timedatectl set-ntp true';
  if (now < SURELY_PAST) return fail('the clock stands before 2026: times and certificates will be wrong', next);
  const apart = Math.round(wallMs - monotonicMs);
  if (Math.abs(apart) > MOST_APART_MS)
    return warn(
      `the wall clock went ${Math.round(wallMs)} ms while ${Math.round(monotonicMs)} ms passed: it is being set`,
      next,
    );
  return ok(`runs evenly (${apart} ms apart over ${Math.round(monotonicMs)} ms)`);
}
