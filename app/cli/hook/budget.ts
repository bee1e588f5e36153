import type { Clock } from '../../../core/ports/index.ts';

/** Limits the total time of waiting from now on. Each wait may use what is left. */
export interface TimeBudget {
  /** Whole milliseconds that are left; 0: nothing may wait any more. */
  left(): number;
  /** At most `ms` milliseconds of what is left, starting now. */
  part(ms: number): TimeBudget;
}

export function createBudget(clock: Pick<Clock, 'monotonic'>, ms: number): TimeBudget {
  const until = clock.monotonic() + ms;
  const left = (): number => Math.max(0, Math.floor(until - clock.monotonic()));
  return { left, part: (most) => createBudget(clock, Math.max(0, Math.min(most, left()))) };
}
