import type { Clock } from '../../../core/ports/index.ts';

/** How long may be waited from now on, in all; each wait is given what is left. */
export interface TimeBudget {
  /** In whole milliseconds; 0: nothing is waited for any more. */
  left(): number;
  /** At most so many milliseconds of what is left, beginning now. */
  part(ms: number): TimeBudget;
}

export function createBudget(clock: Pick<Clock, 'monotonic'>, ms: number): TimeBudget {
  const until = clock.monotonic() + ms;
  const left = (): number => Math.max(0, Math.floor(until - clock.monotonic()));
  return { left, part: (most) => createBudget(clock, Math.max(0, Math.min(most, left()))) };
}
