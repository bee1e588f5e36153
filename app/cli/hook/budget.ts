import type { Clock } from '../../../core/ports/index.ts';

/** How long may be waited from now on, in all; each wait is given what is left. */
export interface Budget {
  /** In whole milliseconds; 0: nothing is waited for any more. */
  left(): number;
  /** At most so many milliseconds of what is left, beginning now. */
  part(ms: number): Budget;
}

export function budgetOf(clock: Pick<Clock, 'monotonic'>, ms: number): Budget {
  const until = clock.monotonic() + ms;
  const left = (): number => Math.max(0, Math.floor(until - clock.monotonic()));
  return { left, part: (most) => budgetOf(clock, Math.max(0, Math.min(most, left()))) };
}
