import type { Instant } from '../model/index.ts';

/** Both clocks at one moment, in milliseconds. */
export interface ClockPair {
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
