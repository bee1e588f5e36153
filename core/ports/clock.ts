import type { Instant } from '../model/index.ts';

/** The only source of time in Hivebar. The real one is `realClock` in clock.node.ts; the fake one is in test/kit. */
export interface Clock {
  now(): Instant;
  /** Milliseconds that never go backwards, for measuring time spans. */
  monotonic(): number;
  /**
   * Resolves after `ms`, or as soon as `signal` aborts. It never rejects and leaves no timer behind. 0: resolves after
   * all other pending work has had a turn.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs once after `ms` unless disposed first. Does not keep the process alive. */
  after(ms: number, run: () => void): Disposable;
}
