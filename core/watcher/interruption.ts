import type { Instant } from '../model/index.ts';
import type { Clock } from '../ports/index.ts';
import { every, type Service } from '../services/index.ts';

export interface InterruptionRules {
  /** Milliseconds between two readings of the clocks. */
  readonly beatMs: number;
  /**
   * A beat that is later than this many milliseconds, or a wall clock that is off by more, counts as an interruption.
   */
  readonly tolerateMs: number;
  /**
   * Milliseconds after an interruption in which the network may still be waking up. Failures count, but make no outage.
   */
  readonly graceMs: number;
}

/** The values of the desktop contract, section 8. */
export const INTERRUPTION_RULES: InterruptionRules = { beatMs: 5000, tolerateMs: 15_000, graceMs: 30_000 };

/** Detects interruptions, that is, times in which nobody watched. */
export interface InterruptionDetector {
  /** Reads the clocks again and again. While it does not run, an interruption is noticed only when somebody asks. */
  readonly service: Service;
  /**
   * Returns whether the grace time of an interruption is still running. It reads the clocks first: timers that were due
   * during the interruption fire in any order, and their failures must not be handled before the interruption is known.
   */
  isSettling(): boolean;
  /**
   * Calls `listener` with each interruption, in the order of registration, before anything that is found out
   * afterwards.
   */
  onInterruption(listener: (gap: Interruption) => void): Disposable;
}

/** Compares the clocks with each other and with the time at which the beat was due, from now on. */
export function detectInterruptions(clock: Clock, rules: InterruptionRules = INTERRUPTION_RULES): InterruptionDetector {
  const listeners = new Set<(gap: Interruption) => void>();
  const readClocks = (): ClockPair => ({ wall: clock.now(), monotonic: clock.monotonic() });
  let last = readClocks();
  /** Monotonic, so that setting the wall clock does not extend the grace time. */
  let graceEndsAt = Number.NEGATIVE_INFINITY;

  /** Returns true when there was an interruption. */
  function checkClocks(now: ClockPair): boolean {
    const ms = computeInterruptionMs(last, now, rules.beatMs, rules.tolerateMs);
    if (ms === null) return false;
    last = now; // set before the listeners run, because a listener may ask
    graceEndsAt = now.monotonic + rules.graceMs;
    const interruption: Interruption = { at: now.wall, ms, until: now.wall + rules.graceMs };
    for (const listener of [...listeners]) listener(interruption);
    return true;
  }

  return {
    service: every({
      name: 'clock check',
      ms: rules.beatMs,
      firstMs: rules.beatMs,
      round() {
        const now = readClocks();
        if (!checkClocks(now)) last = now;
      },
      clock,
    }),
    isSettling() {
      const now = readClocks();
      checkClocks(now);
      return now.monotonic < graceEndsAt;
    },
    onInterruption(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

/** Both clocks at one moment, in milliseconds. */
interface ClockPair {
  readonly wall: Instant;
  /** Stops on some systems while the machine sleeps. It continues while the process is stopped. */
  readonly monotonic: number;
}

/** Time in which nobody watched: the machine slept, the process was stopped, or the wall clock was set. */
export interface Interruption {
  /** When the interruption was noticed. */
  readonly at: Instant;
  /** How long the interruption was, in milliseconds. If the clock was set back: by how much. */
  readonly ms: number;
  /** The end of the grace time. Events delivered before it arrived during the interruption. */
  readonly until: Instant;
}

/**
 * Computes the milliseconds of an interruption between two readings, of which the second was due at most `dueMs` after
 * the first. Null when both clocks went on as expected, within `tolerateMs`. The clocks do not tell the cause on every
 * system, so all causes are treated the same (desktop contract, section 8).
 */
export function computeInterruptionMs(
  before: ClockPair,
  after: ClockPair,
  dueMs: number,
  tolerateMs: number,
): number | null {
  const wall = after.wall - before.wall;
  const monotonic = after.monotonic - before.monotonic;
  const late = Math.max(wall, monotonic) - dueMs;
  if (late > tolerateMs) return late;
  const setBack = monotonic - wall;
  return setBack > tolerateMs ? setBack : null;
}
