import type { Clock } from '../ports/index.ts';
import { type ClockPair, computeInterruptionMs, type Interruption } from './interruption.ts';

export interface InterruptionRules {
  /** Between two looks at the clocks. */
  readonly beatMs: number;
  /** A beat that is late by more, or a wall clock off by more, is a gap. */
  readonly tolerateMs: number;
  /** For so long after a gap the network may still be waking up: failures count, but make no outage. */
  readonly graceMs: number;
}

/** Of the desktop contract, section 8. */
export const INTERRUPTION_RULES: InterruptionRules = { beatMs: 5000, tolerateMs: 15_000, graceMs: 30_000 };

/** Knows when nobody watched. Disposing ends its beat. */
export interface InterruptionDetector extends Disposable {
  /**
   * Whether the grace time of a gap goes on. Looks at the clocks first: timers that were due in the gap fire in any
   * order, and no failure of theirs shall come before the gap is known.
   */
  isSettling(): boolean;
  /** Calls `listener` with each gap, in the order of listening, before anything that is found out afterwards. */
  onInterruption(listener: (gap: Interruption) => void): Disposable;
}

/** Begins to compare the clocks with each other, and with when the beat was due. */
export function detectInterruptions(clock: Clock, rules: InterruptionRules = INTERRUPTION_RULES): InterruptionDetector {
  const listeners = new Set<(gap: Interruption) => void>();
  const readClocks = (): ClockPair => ({ wall: clock.now(), monotonic: clock.monotonic() });
  let last = readClocks();
  /** Monotonic: a clock that is set again must not stretch the grace. */
  let graceEndsAt = Number.NEGATIVE_INFINITY;
  let timer: Disposable;

  /** True when there was a gap. */
  function checkClocks(now: ClockPair): boolean {
    const ms = computeInterruptionMs(last, now, rules.beatMs, rules.tolerateMs);
    if (ms === null) return false;
    last = now; // before anybody is told: a listener may ask
    graceEndsAt = now.monotonic + rules.graceMs;
    const interruption: Interruption = { at: now.wall, ms, until: now.wall + rules.graceMs };
    for (const listener of [...listeners]) listener(interruption);
    return true;
  }

  function beat(): void {
    timer = clock.after(rules.beatMs, beat);
    const now = readClocks();
    if (!checkClocks(now)) last = now;
  }

  timer = clock.after(rules.beatMs, beat);
  return {
    isSettling() {
      const now = readClocks();
      checkClocks(now);
      return now.monotonic < graceEndsAt;
    },
    onInterruption(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}
