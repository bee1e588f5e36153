import type { Clock } from '../ports/index.ts';
import { type Gap, gapBetween, type Reading } from './gap.ts';

export interface GapRules {
  /** Between two looks at the clocks. */
  readonly beatMs: number;
  /** A beat that is late by more, or a wall clock off by more, is a gap. */
  readonly tolerateMs: number;
  /** For so long after a gap the network may still be waking up: failures count, but make no outage. */
  readonly graceMs: number;
}

/** Of the desktop contract, section 8. */
export const GAP_RULES: GapRules = { beatMs: 5000, tolerateMs: 15_000, graceMs: 30_000 };

/** Knows when nobody watched. Disposing ends its beat. */
export interface Wakefulness extends Disposable {
  /**
   * Whether the grace time of a gap goes on. Looks at the clocks first: timers that were due in the gap fire in any
   * order, and no failure of theirs shall come before the gap is known.
   */
  settling(): boolean;
  /** Calls `listener` with each gap, in the order of listening, before anything that is found out afterwards. */
  gaps(listener: (gap: Gap) => void): Disposable;
}

/** Begins to compare the clocks with each other, and with when the beat was due. */
export function watchGaps(clock: Clock, rules: GapRules = GAP_RULES): Wakefulness {
  const listeners = new Set<(gap: Gap) => void>();
  const read = (): Reading => ({ wall: clock.now(), monotonic: clock.monotonic() });
  let last = read();
  /** Monotonic: a clock that is set again must not stretch the grace. */
  let settledAt = Number.NEGATIVE_INFINITY;
  let timer: Disposable;

  /** True when there was a gap. */
  function look(now: Reading): boolean {
    const ms = gapBetween(last, now, rules.beatMs, rules.tolerateMs);
    if (ms === null) return false;
    last = now; // before anybody is told: a listener may ask
    settledAt = now.monotonic + rules.graceMs;
    const gap: Gap = { at: now.wall, ms, until: now.wall + rules.graceMs };
    for (const listener of [...listeners]) listener(gap);
    return true;
  }

  function beat(): void {
    timer = clock.after(rules.beatMs, beat);
    const now = read();
    if (!look(now)) last = now;
  }

  timer = clock.after(rules.beatMs, beat);
  return {
    settling() {
      const now = read();
      look(now);
      return now.monotonic < settledAt;
    },
    gaps(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
