import type { Instant } from '../model/index.ts';

/** Both clocks at one moment. */
export interface ClockPair {
  readonly wall: Instant;
  /** Stands still while some systems sleep; goes on while a process is stopped. */
  readonly monotonic: number;
}

/** Time in which nobody watched: the machine slept, the process was stopped, or the wall clock was set. */
export interface Interruption {
  /** When it was noticed. */
  readonly at: Instant;
  /** How much of it there was, in milliseconds; when the clock was set back, by how much. */
  readonly ms: number;
  /** The end of the grace time: what comes before it tells of the time away. */
  readonly until: Instant;
}

/**
 * Milliseconds of a gap between two readings of which the second was due at most `dueMs` after the first; null when both
 * clocks went on as expected, give or take `tolerateMs`. Which of the causes it was cannot be told from the clocks on
 * every system, and it is treated the same (desktop contract, section 8).
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
